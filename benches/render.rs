//! From measured ticks to a result, and from a result to its reports.

#[path = "../tests/common/figures.rs"]
mod figures;

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use rigel::clock::Clock;
use rigel::report::json;
use rigel::report::text::{Style, summary, table};
use rigel::result::{from_json, point};

fn render(c: &mut Criterion) {
    let plan = figures::plan(2, 70.0, &[1, 4, 16, 64], Duration::from_millis(50));
    let (clock, driven) = (Clock::virtual_ns(), figures::drive(&plan, 3));
    let result = figures::run(plan.clone());
    let text = String::from_utf8(json::render(&result)).expect("JSON is UTF-8");
    let mut group = c.benchmark_group("render");
    group.bench_function("point", |b| b.iter(|| point(&plan, &clock, black_box(&driven))));
    group.bench_function("json", |b| b.iter(|| json::render(black_box(&result))));
    group.bench_function("read_json", |b| b.iter(|| from_json(black_box(&text)).expect("a result")));
    group.bench_function("table", |b| b.iter(|| table(black_box(&result), Style::plain())));
    group.bench_function("summary", |b| b.iter(|| summary(black_box(&result))));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    render(&mut criterion);
    criterion.final_summary();
}
