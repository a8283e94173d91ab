//! The null and sim drivers against the contract that all drivers share.

#[path = "common/conformance.rs"]
#[allow(dead_code, reason = "some of the contract is about real devices")]
mod conformance;

use rigel::driver::{Backend, Driver, NullBackend, Operation, SimBackend};
use rigel::spec::Uri;

fn uri(text: &str) -> Uri {
    text.parse().expect("a URI")
}

#[test]
fn null_keeps_the_contract() {
    let backend = NullBackend::new(&[uri("null://1g")]);
    conformance::every_io_ends_once(&backend, 8);
    conformance::other_operations_end_once(&backend, 8, &[]);
    conformance::a_single_slot_works_again_and_again(&backend, 8);
    conformance::dropping_with_io_outstanding_is_safe(&backend, 8);
}

#[test]
fn sim_keeps_the_contract() {
    for model in
        ["sim://powermax-read-miss", "sim://?service=exp:50us&servers=3", "sim://?service=1ns&hit=50&hit_service=1ns"]
    {
        let backend = SimBackend::new(&[uri(model)]);
        conformance::every_io_ends_once(&backend, 8);
        conformance::other_operations_end_once(&backend, 8, &[]);
        conformance::a_single_slot_works_again_and_again(&backend, 8);
        conformance::dropping_with_io_outstanding_is_safe(&backend, 8);
    }
}

#[test]
fn virtual_time_moves_to_the_next_completion_and_no_further() {
    let backend = SimBackend::new(&[uri("sim://?service=const:100us&servers=1")]);
    let mut driver = backend.open::<conformance::Counter>(&conformance::order(&backend, 4, 8)).unwrap();
    let mut counter = conformance::Counter::new(0, 8, Operation::Read);
    counter.drive(&mut driver, 4, 0);
    // One server: the four are served one after the other.
    assert_eq!(counter.ticks, [100_000, 200_000, 300_000, 400_000]);
    assert_eq!(Driver::<conformance::Counter>::now(&driver).0, 400_000);
}
