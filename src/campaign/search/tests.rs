//! The search against arrays whose answer is known: a queue, a wall, a closed loop.

use super::*;

/// Searches on an array whose latency at a load, as a share of the limit, is known.
fn search(text: &str, max: Option<f64>, of_limit: impl Fn(u64) -> Option<f64>) -> (SearchOutcome, Progress) {
    let search: Search = toml::from_str(text).unwrap();
    let mut progress = Progress { search, max: None, tried: Vec::new() };
    loop {
        match progress.next() {
            Next::Max => progress.max = Some(max.expect("this search needs no highest rate")),
            Next::End(outcome) => return (outcome, progress),
            Next::Try(load) => {
                let share = of_limit(load);
                let outcome = if share.is_some_and(|share| share <= 1.0) { Accepted::Passed } else { Accepted::Failed };
                let point = progress.tried.len();
                progress.tried.push(Tried { point, load, outcome, of_limit: share, reason: None, disturbed: false });
                assert!(progress.tried.len() <= 12, "{:?}", progress.tried);
            }
        }
    }
}

#[test]
fn the_limit_of_a_queue_is_found_within_two_per_cent_wherever_it_lies() {
    let capacity = 200_000.0;
    for share in [0.13, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99] {
        let limit_at = capacity * share;
        // M/M/1: the latency is 1 / (capacity - rate); the limit is that at `limit_at`.
        let of_limit = |load: u64| {
            let load = load as f64;
            (load < capacity).then(|| (capacity - limit_at) / (capacity - load))
        };
        let (outcome, progress) = search("limit = ['p99 read <= 1ms']", Some(capacity), of_limit);
        let (answer, broken) = progress.bracket();
        let answer = answer.unwrap() as f64;
        assert_eq!(outcome, SearchOutcome::Found, "{share}: {:?}", progress.tried);
        assert!(answer <= limit_at && answer >= limit_at * 0.98, "{share}: {answer} of {limit_at}");
        assert!(broken.is_none_or(|broken| broken as f64 >= limit_at), "{share}: {broken:?}");
        assert!(progress.tried.len() <= 10, "{share}: {} tries", progress.tried.len());
    }
}

#[test]
fn the_limit_of_a_wall_is_found_too() {
    // Below the wall nothing hints at it.
    for wall in [15_000, 50_000, 120_000, 190_000] {
        let of_limit = |load: u64| if load <= wall { Some(0.3) } else { Some(40.0) };
        let (outcome, progress) = search("limit = ['p99 <= 1ms']", Some(200_000.0), of_limit);
        let (answer, broken) = progress.bracket();
        assert!([SearchOutcome::Found, SearchOutcome::Wide].contains(&outcome));
        assert!(answer.is_some_and(|answer| answer <= wall) && broken.is_some_and(|broken| broken > wall));
        let (answer, broken) = (answer.unwrap() as f64, broken.unwrap() as f64);
        assert!(broken - answer <= 0.05 * broken, "{wall}: {answer}..{broken}, {:?}", progress.tried);
    }
}

#[test]
fn a_limit_that_the_lowest_load_breaks_is_an_answer() {
    for text in ["limit = ['p99 <= 1ms']", "limit = ['p99 <= 1ms']\nfield = 'queue_depth'"] {
        let (outcome, progress) = search(text, Some(1e5), |_| Some(7.0));
        assert_eq!((outcome, progress.bracket().0), (SearchOutcome::LowestBreaks, None), "{text}");
        assert!(progress.tried.len() <= 6, "{:?}", progress.tried);
    }
}

#[test]
fn a_limit_that_holds_up_to_the_end_is_an_answer() {
    let (outcome, progress) = search("limit = ['p99 <= 1ms']\nto = '50k'", None, |_| Some(0.1));
    assert_eq!((outcome, progress.bracket()), (SearchOutcome::HighestKeeps, (Some(50_000), None)));
    assert_eq!(progress.tried.len(), 2);
    // What was reached flat out bounds the search where nothing was asked.
    let (outcome, progress) = search("limit = ['p99 <= 1s']", Some(1e5), |_| Some(0.01));
    assert_eq!(outcome, SearchOutcome::Found);
    assert!(progress.bracket().0.unwrap() >= 98_000, "{:?}", progress.tried);
}

#[test]
fn the_greatest_depth_is_found_to_the_last_one() {
    for deepest in [1, 2, 3, 7, 20, 100] {
        let of_limit = |depth: u64| Some(depth as f64 / (f64::from(deepest) + 0.5));
        let (outcome, progress) = search("limit = ['mean <= 1ms']\nfield = 'queue_depth'", None, of_limit);
        assert_eq!(outcome, SearchOutcome::Found, "{deepest}: {:?}", progress.tried);
        assert_eq!(progress.bracket().0, Some(deepest as u64), "{:?}", progress.tried);
    }
}

#[test]
fn a_depth_that_holds_to_the_end_is_an_answer_too() {
    let (outcome, progress) = search("limit = ['mean <= 1ms']\nfield = 'queue_depth'\nfrom = 64", None, |_| Some(0.1));
    assert_eq!((outcome, progress.bracket().0), (SearchOutcome::HighestKeeps, Some(1_024)));
}

#[test]
fn neighbouring_rates_are_a_bracket() {
    // 25/s hold and 26/s do not: no rate lies between them.
    let of_limit = |load: u64| Some(if load <= 25 { 0.5 } else { 3.0 });
    let (outcome, progress) = search("limit = ['mean <= 1s']", Some(50.0), of_limit);
    assert_eq!((outcome, progress.bracket()), (SearchOutcome::Found, (Some(25), Some(26))), "{:?}", progress.tried);
}

#[test]
fn the_majority_of_the_tries_counts() {
    let mut progress =
        Progress { search: toml::from_str("limit = ['p99 <= 1ms']").unwrap(), max: Some(1e5), tried: Vec::new() };
    let tried = |load, outcome| Tried { point: 0, load, outcome, of_limit: Some(1.0), reason: None, disturbed: false };
    progress.tried = vec![tried(80_000, Accepted::Passed), tried(90_000, Accepted::Failed)];
    assert_eq!(progress.bracket(), (Some(80_000), Some(90_000)));
    progress.tried.push(tried(80_000, Accepted::Failed));
    assert_eq!((progress.bracket(), progress.next()), ((None, Some(90_000)), Next::Try(80_000)));
    progress.tried.push(tried(80_000, Accepted::Failed));
    assert_eq!(progress.bracket(), (None, Some(80_000)));
    let disturbed = Tried { disturbed: true, ..tried(75_000, Accepted::Failed) };
    progress.tried.push(disturbed.clone());
    assert_eq!(progress.next(), Next::Try(75_000), "other programs are not the array");
    progress.tried.push(tried(75_000, Accepted::Passed));
    assert_eq!(progress.bracket(), (Some(75_000), Some(80_000)));
    progress.tried.extend([77_000; 3].map(|load| Tried { load, ..disturbed.clone() }));
    assert_eq!(progress.bracket(), (Some(75_000), Some(77_000)), "three times is no accident");
    progress.tried.push(tried(70_000, Accepted::NotJudged));
    assert_eq!(progress.next(), Next::End(SearchOutcome::NotJudged));
}
