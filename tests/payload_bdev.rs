//! The payload on its way through SPDK: what a file behind a bdev holds after mixed reads and writes, many at once.
//!
//! One test: SPDK can be started once per process.
#![cfg(all(feature = "spdk", feature = "audit"))]

#[path = "common/runs.rs"]
mod runs;

use rigel::driver::BdevBackend;
use rigel::workload::payload::{ChunkAudit, audit};

const FILE_BYTES: usize = 16 << 20;

#[test]
fn a_file_behind_a_bdev_holds_the_payload() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("file"), vec![0; FILE_BYTES]).expect("a file");
    let config = format!(
        "{{\"subsystems\": [{{\"subsystem\": \"bdev\", \"config\": [{{\"method\": \"bdev_aio_create\", \
         \"params\": {{\"name\": \"File0\", \"filename\": \"{}\", \"block_size\": 512}}}}]}}]}}",
        at("file")
    );
    std::fs::write(at("config.json"), config).expect("a file");
    let uri = format!("bdev://File0?config={}", at("config.json"));
    let backend = BdevBackend::connect(&[uri.parse().expect("a URI")]).expect("connects");
    let run = |workload: &str| {
        let job = format!(
            "destroy = \"File0\"\n[[target]]\nuri = \"{uri}\"\n[[workload]]\nblock_size = \"16k\"\n{workload}\n\
             [run]\nramp = \"0s\"\ntime = \"1s\"\ninterval = \"1s\"\n"
        );
        let points = runs::figures(&backend, &job);
        assert!(points[0].errors.is_empty(), "{:?}", points[0].errors);
        points[0].interval_completions
    };
    for (payload, compression, dedupe) in [("compression = 2", 2.0, 1.0), ("compression = 3, dedupe = 2", 3.0, 2.0)] {
        let fields = format!("payload = {{ {payload} }}");
        let written = run(&format!("read_percent = 0\naccess = \"sequential\"\n{fields}"));
        assert!(written as usize * 16_384 > FILE_BYTES, "{written} writes do not cover the file");
        // Reads in between bring other bytes into the slots, of which nothing may be written.
        run(&format!("read_percent = 50\nqueue_depth = 64\n{fields}"));
        let found = audit(&std::fs::read(at("file")).expect("the file"), 4096);
        let near = |found: f64, asked: f64| (found / asked - 1.0).abs() <= 0.03;
        assert!(near(found.dedupe, dedupe), "{payload}: {found:?}");
        let ratios = found.compression.iter().flat_map(ChunkAudit::ratios);
        assert!(ratios.into_iter().all(|(_, ratio)| near(ratio, compression)), "{payload}: {found:?}");
    }
}
