//! The grammar of acceptances: what is read, how it is told, and what is refused with which remedy.

use super::*;

#[test]
fn acceptances_print_as_they_are_read() {
    for (typed, told) in [
        ("iops >= 200k", "iops >= 200k"),
        ("iops>=1500000", "iops >= 1500k"),
        ("iops read > 1.5M", "iops read > 1500k"),
        ("iops >= 2M", "iops >= 2M"),
        ("iops < 123", "iops < 123"),
        ("p99.9 read <= 500us", "p99.9 read <= 500us"),
        ("oltp/mean.write < 1.5ms", "oltp/mean write < 1500us"),
        ("p99 response <= 2s at 50k", "p99 response <= 2s at 50000"),
        ("MB/s >= 800", "MB/s >= 800"),
        ("MB/s >= 1.2 GB/s", "MB/s >= 1200"),
        ("oltp/MB/s read >= 1 MiB/s", "oltp/MB/s read >= 1.048576"),
        ("errors == 0", "errors == 0"),
        ("errors write <= 3 at any", "errors write <= 3 at any"),
        ("cpu <= 80%", "cpu <= 80 %"),
        ("cpu < 12.5 at all", "cpu < 12.5 %"),
        ("steady", "steady"),
        ("steady at 64", "steady at 64"),
        ("look at me/iops >= 1", "look at me/iops >= 1"),
        ("a<b/iops >= 1 at any", "a<b/iops >= 1 at any"),
    ] {
        let accept: Accept = typed.parse().unwrap_or_else(|error| panic!("{typed}: {error}"));
        assert_eq!(accept.to_string(), told);
        assert_eq!(told.parse(), Ok(accept), "{told}");
    }
}

#[test]
fn what_is_no_acceptance_is_named_with_the_remedy() {
    for (typed, says) in [
        ("", "is no condition"),
        ("iops", "write a figure, a relation and a bound"),
        ("stedy", "did you mean `steady`"),
        ("iops => 5", "`=>` is no relation; write <=, >=, <, > or =="),
        ("iops = 5", "`=` is no relation"),
        ("iops <> 5", "is no relation"),
        ("iopps >= 5", "did you mean `iops`"),
        ("iops == 5", "only errors can be held to equality; write <= or >="),
        ("iops >= 500us", "`500us` is not a rate"),
        ("iops >=", "is not a rate"),
        ("p99 read <= 500", "`500` is not a duration"),
        ("p99 read <= 200k", "is not a duration"),
        ("MB/s >= 5k", "is no bandwidth"),
        ("MB/s >= 1 TB/s", "800 MB/s, 760 MiB/s or 1.2 GB/s"),
        ("errors <= 0.5", "write a whole number"),
        ("errors == none", "write a whole number"),
        ("cpu <= 101", "0 to 100"),
        ("cpu <= nan", "0 to 100"),
        ("iops >= 5 at most", "`most` names no points; write all, any, or the load of a point"),
        ("iops >= 5 at 0", "names no points"),
    ] {
        let message = typed.parse::<Accept>().unwrap_err();
        assert!(message.contains(says), "{typed}: {message}");
    }
}

#[test]
fn a_load_belongs_to_the_workload_of_the_figure() {
    let loads = [Load::QueueDepth(4), Load::Outstanding(64)];
    let covers = |text: &str| text.parse::<Accept>().unwrap().covers(&loads, &["log", "data"]);
    assert!(covers("iops >= 1") && covers("iops >= 1 at any") && covers("iops >= 1 at 4") && covers("steady at 64"));
    assert!(covers("data/iops >= 1 at 64") && !covers("log/iops >= 1 at 64") && !covers("iops >= 1 at 8"));
}

#[test]
fn each_relation_has_its_edge() {
    let holds = |relation: Relation| [1.0, 2.0, 3.0].map(|value| relation.holds(value, 2.0));
    assert_eq!(holds(Relation::AtMost), [true, true, false]);
    assert_eq!(holds(Relation::Below), [true, false, false]);
    assert_eq!(holds(Relation::AtLeast), [false, true, true]);
    assert_eq!(holds(Relation::Above), [false, false, true]);
    assert_eq!(holds(Relation::Equal), [false, true, false]);
}
