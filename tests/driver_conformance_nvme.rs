//! The NVMe driver, over TCP, against the contract that all drivers share.
//!
//! One test: SPDK can be started once per process.
#![cfg(feature = "spdk")]

#[path = "common/array.rs"]
mod array;
#[path = "common/conformance.rs"]
mod conformance;

use rigel::driver::{Backend, NvmeBackend, Operation};
use rigel::plan::queue_pairs;

#[test]
fn nvme_over_tcp_keeps_the_contract() {
    let array = array::Array::tcp(&["backing=malloc", "size_mib=64"]);
    let uris = [array.uri().parse().expect("a URI")];
    let backend = NvmeBackend::connect(&uris, 300).expect("connects");
    let facts = &backend.facts()[0];
    assert_eq!((facts.serial.as_str(), facts.blocks, facts.volatile), ("RIGEL-LOOPBACK-1", 64 << 11, false));

    conformance::every_io_ends_once(&backend, 8);
    conformance::other_operations_end_once(&backend, 8, &["RIGEL-LOOPBACK-1"]);
    let stat = array.rpc("bdev_get_iostat", &serde_json::json!({"name": "Malloc0"}));
    assert_eq!(stat["bdevs"][0]["num_unmap_ops"], if facts.supports.trim { 400 } else { 0 }, "{stat}");
    conformance::a_single_slot_works_again_and_again(&backend, 8);
    conformance::an_address_beyond_the_end_is_an_error(&backend, 8);
    conformance::a_write_on_a_reading_order_is_refused(&backend, 8);
    conformance::impossible_io_ends_with_an_error(&backend, 8);
    conformance::dropping_with_io_outstanding_is_safe(&backend, 8);

    // Larger than the controller's transfers, on one slot: split by SPDK, and complete all the same.
    let mib = 1 << 11;
    let mut driver = backend.open(&conformance::order(&backend, 1, mib)).expect("opens");
    let mut counter = conformance::Counter::new(9, mib, Operation::Read);
    counter.drive(&mut driver, 1, 0);
    assert_eq!((counter.ended, counter.statuses.len()), (10, 1));
    drop(driver);

    // Deeper than one queue pair: several share the depth.
    assert!(queue_pairs(300, facts.queue_pair_depth) > 1);
    let mut driver = backend.open(&conformance::order(&backend, 300, 8)).expect("opens");
    let mut counter = conformance::Counter::new(10_000, 8, Operation::Read);
    counter.drive(&mut driver, 300, 0);
    assert_eq!((counter.ended, counter.by_slot.len(), counter.refused.len()), (10_300, 300, 0));
    drop(driver);

    // Writing takes the identity, whatever the plan said.
    let mut order = conformance::order(&backend, 1, 8);
    order.writes = vec![true];
    let refused = backend.open::<conformance::Counter>(&order).expect_err("no identity was typed");
    assert!(refused.to_string().contains("--destroy 'RIGEL-LOOPBACK-1'"), "{refused}");
    order.destroy = vec!["RIGEL-LOOPBACK-1".to_owned()];
    let mut driver = backend.open(&order).expect("opens for writing");
    let mut counter = conformance::Counter::new(99, 8, Operation::Write);
    counter.drive(&mut driver, 1, 0);
    drop(driver);
    assert_eq!(array.counts("Malloc0").writes, 100);
}
