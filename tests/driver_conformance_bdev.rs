//! The bdev driver, on memory with and without a delay, against the contract that all drivers share.
//!
//! One test: SPDK can be started once per process.
#![cfg(feature = "spdk")]

#[path = "common/conformance.rs"]
mod conformance;

use std::collections::HashMap;

use rigel::driver::{Backend, BdevBackend, Operation, Status};

#[test]
fn bdev_keeps_the_contract() {
    let uris = ["malloc://64m", "malloc://64m?read_latency=50us"].map(|text| text.parse().expect("a URI"));
    let backend = BdevBackend::connect(&uris).expect("connects");
    assert_eq!(backend.facts().len(), 2);
    assert!(backend.facts().iter().all(|facts| facts.volatile && facts.blocks == 64 << 11));
    conformance::every_io_ends_once(&backend, 8);
    conformance::other_operations_end_once(&backend, 8, &[]);
    conformance::a_single_slot_works_again_and_again(&backend, 8);
    conformance::an_address_beyond_the_end_is_an_error(&backend, 8);
    conformance::a_write_on_a_reading_order_is_refused(&backend, 8);
    conformance::impossible_io_ends_with_an_error(&backend, 8);
    conformance::dropping_with_io_outstanding_is_safe(&backend, 8);

    // Writing works where the order says so.
    let mut order = conformance::order(&backend, 4, 8);
    order.writes = vec![true, false];
    let mut driver = backend.open(&order).expect("opens for writing");
    let mut counter = conformance::Counter::new(996, 8, Operation::Write);
    counter.drive(&mut driver, 4, 0);
    assert_eq!(counter.statuses, HashMap::from([(Status::Good, 1_000)]));
}
