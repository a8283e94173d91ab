//! Operations on their way through SPDK's bdev layer: what memory and a file hold afterwards.
//!
//! One test: SPDK can be started once per process.
#![cfg(feature = "spdk")]

#[path = "common/runs.rs"]
mod runs;

use rigel::driver::{Backend, BdevBackend};
use rigel::plan::{Op, PlanError, resolve};
use rigel::spec;

const FILE_BYTES: usize = 4 << 20;

#[test]
fn bdevs_do_what_they_support_and_the_rest_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("file"), vec![0xa5; FILE_BYTES]).expect("a file");
    let config = format!(
        "{{\"subsystems\": [{{\"subsystem\": \"bdev\", \"config\": [\
         {{\"method\": \"bdev_aio_create\", \"params\": {{\"name\": \"File0\", \"filename\": \"{}\", \"block_size\": 512}}}}, \
         {{\"method\": \"bdev_malloc_create\", \"params\": {{\"name\": \"Memory0\", \"num_blocks\": 131072, \"block_size\": 512}}}}]}}]}}",
        at("file")
    );
    std::fs::write(at("config.json"), config).expect("a file");
    let uri = |name: &str| format!("bdev://{name}?config={}", at("config.json"));
    let uris = ["File0", "Memory0"].map(uri);
    let backend = BdevBackend::connect(&uris.each_ref().map(|uri| uri.parse().expect("a URI"))).expect("connects");
    let job = |target: usize, workload: &str| {
        format!(
            "destroy = \"File0\"\n[[target]]\nuri = \"{}\"\n[[target]]\nuri = \"{}\"\n\
             [[workload]]\ntargets = [{target}]\n{workload}\n[run]\nramp = \"0s\"\ntime = \"500ms\"\ninterval = \"500ms\"\n",
            uris[0], uris[1]
        )
    };
    let run = |target, workload: &str| {
        let points = runs::figures(&backend, &job(target, workload));
        assert!(points[0].errors.is_empty(), "{:?}", points[0].errors);
        points[0].cells.iter().map(|cell| cell.service.count()).collect::<Vec<_>>()
    };

    // All of them on memory, by their shares.
    let counts = run(1, "mix = { read = 40, write = 30, trim = 20, write_zeroes = 9, flush = 1 }");
    let all = counts.iter().sum::<u64>() as f64;
    assert!(all > 1_000.0, "{counts:?}");
    for (count, share) in counts.iter().zip([0.4, 0.3, 0.2, 0.09, 0.01]) {
        assert!((*count as f64 - all * share).abs() <= 6.0 * (all * share).sqrt(), "{counts:?}");
    }

    // A file reads back as zeroes.
    let zeroes = run(0, "block_size = \"64k\"\nmix = { write_zeroes = 100 }\naccess = \"sequential\"");
    assert!(zeroes[2] as usize * 65_536 > FILE_BYTES, "{zeroes:?}");
    assert!(std::fs::read(at("file")).expect("the file").iter().all(|byte| *byte == 0));

    // So does what was trimmed, or it is refused.
    std::fs::write(at("file"), vec![0xa5; FILE_BYTES]).expect("a file");
    let trims = job(0, "block_size = \"64k\"\nmix = { trim = 100 }\naccess = \"sequential\"");
    if backend.facts()[0].supports.trim {
        run(0, "block_size = \"64k\"\nmix = { trim = 100 }\naccess = \"sequential\"");
        assert!(std::fs::read(at("file")).expect("the file").iter().all(|byte| *byte == 0));
    } else {
        let refused = resolve(&spec::parse(&trims, "test").expect("a job"), &backend.facts(), &[0]).unwrap_err();
        assert!(matches!(refused, PlanError::Unsupported { op: Op::Trim, .. }), "{refused}");
    }
}
