//! What is done before the points of a campaign that are given one by one: as much as is asked for, and of its own blocks.

use rigel::campaign::{Campaign, Given, WarmUp};
use rigel::driver::{Backend, SimBackend};
use rigel::engine::{RunControl, run};
use rigel::import::orion::{Cell, Command, Dialect, OrionRun, parse, parse_luns};

/// The campaign of some cells of a test on two volumes, each of whose I/Os takes 1 ms.
fn campaign(line: &str, cells: &[Cell]) -> (Campaign, SimBackend) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Ok(Command::Run(options)) = parse(&words, Dialect::V11_2) else { panic!("{line}") };
    let luns = "sim://?service=1ms\nsim://?service=1ms&seed=7\n";
    let test = OrionRun::new(*options, parse_luns(luns, "x.lun").unwrap()).unwrap();
    let given = |cell: &Cell| Given {
        settings: OrionRun::settings(*cell),
        job: test.cell_job(*cell),
        warm_up: test.warm_up_job(*cell).map(|(job, amount)| WarmUp { job, amount }),
    };
    let backend = SimBackend::new(&test.targets);
    let given = cells.iter().map(given).collect();
    (Campaign::of_given(given, &backend.facts(), &[0]).unwrap(), backend)
}

/// I/Os and seconds of the warm-up before the first cell.
fn first(line: &str, cell: Cell) -> Option<(u64, f64)> {
    let (campaign, backend) = campaign(line, &[cell]);
    let plan = campaign.next(&[]).unwrap().unwrap().warm_up?;
    let clock = backend.clock().unwrap();
    let control = RunControl::default();
    let points = run(&backend, &plan, &clock, &control, &mut |_| {}).unwrap();
    let [point] = points.as_slice() else { panic!("{} points", points.len()) };
    assert_eq!(point.ended_early, None);
    let phases = [&point.ramp, &point.cells, &point.drain];
    let ios = phases.into_iter().flatten().map(|cell| cell.service.count()).sum();
    Some((ios, plan.time.as_secs_f64()))
}

#[test]
fn an_amount_is_read_to_the_io_and_ends_the_warm_up() {
    let line = "-run advanced -type seq -num_disks 2 -matrix col -num_small 0 -size_large 64 -cache_size";
    assert_eq!(first(&format!("{line} 4"), Cell { small: 0, large: 1 }), Some((64, 3_600.0)));
    assert_eq!(first(&format!("{line} 5"), Cell { small: 1, large: 2 }), Some((80, 3_600.0)));
}

#[test]
fn without_an_amount_it_lasts_two_minutes() {
    let line = "-run advanced -type seq -num_disks 2 -matrix col -num_small 0";
    let (ios, time_s) = first(line, Cell { small: 0, large: 1 }).unwrap();
    // Eight outstanding of a millisecond each, and what is in flight when the time is up.
    assert_eq!((time_s, ios.abs_diff(8 * 120_000) <= 8), (120.0, true), "{ios}");
}

#[test]
fn points_without_streams_and_a_cache_of_none_have_none() {
    let line = "-run advanced -type seq -num_disks 2 -matrix row -num_large 0";
    assert_eq!(first(line, Cell { small: 2, large: 0 }), None);
    assert_eq!(first(&format!("{line} -cache_size 0"), Cell { small: 0, large: 2 }), None);
}

#[test]
fn it_draws_other_blocks_than_its_point_and_than_the_one_before() {
    let cells = [Cell { small: 0, large: 1 }, Cell { small: 0, large: 2 }];
    let (campaign, _) = campaign("-run advanced -type seq -cache_size 4 -num_disks 2", &cells);
    let stage = campaign.next(&[]).unwrap().unwrap();
    assert_ne!(stage.warm_up.unwrap().seed, stage.plan.seed);
    assert_eq!(campaign.state(&[]).unwrap().planned, Some(2));
}

#[test]
fn writing_to_what_may_hold_data_takes_its_identity() {
    let words = ["-run", "advanced", "-type", "seq", "-write", "50"];
    let Ok(Command::Run(options)) = parse(&words, Dialect::V11_2) else { panic!() };
    let luns = parse_luns("sim://?service=1ms", "x.lun").unwrap();
    let mut test = OrionRun::new(*options, luns).unwrap();
    let mut facts = SimBackend::new(&test.targets).facts();
    (facts[0].volatile, facts[0].identities) = (false, vec!["SERIAL-1".to_owned()]);
    let campaign = |test: &OrionRun| {
        let cell = Cell { small: 1, large: 1 };
        let warm_up = test.warm_up_job(cell).map(|(job, amount)| WarmUp { job, amount });
        let given = Given { settings: OrionRun::settings(cell), job: test.cell_job(cell), warm_up };
        Campaign::of_given(vec![given], &facts, &[0]).map(|_| ())
    };
    let refused = campaign(&test).unwrap_err().to_string();
    assert!(refused.contains("--destroy SERIAL-1"), "{refused}");
    test.destroy = vec!["SERIAL-1".to_owned()];
    campaign(&test).unwrap();
}
