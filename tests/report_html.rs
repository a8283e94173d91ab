//! The page and its charts: what stands in them, and that they need nothing else.

#[path = "common/figures.rs"]
mod figures;

use rigel::report::html::{Source, charts, page};

#[test]
fn a_page_of_one_result_holds_its_figures_and_fetches_nothing() {
    let result = figures::mixed();
    let page = page(&[Source { label: "OLTP".to_owned(), result: &result, series: None }]);
    if let Ok(path) = std::env::var("RIGEL_KEEP_PAGE") {
        std::fs::write(path, &page).unwrap();
    }
    for forbidden in ["http://", "https://", "src=", "@import", "<script", "<link"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(forbidden), "{forbidden}");
    }
    for point in &result.points {
        assert!(page.contains(&rigel::units::format_latency(point.total.read.service.as_ref().unwrap().mean_ns)));
    }
    assert!(page.contains("repeat it") && page.contains("By core"));
}

#[test]
fn several_results_share_each_chart() {
    let result = figures::mixed();
    let sources =
        ["before", "after <x>"].map(|label| Source { label: label.to_owned(), result: &result, series: None });
    let named = charts(&sources);
    let ids: Vec<_> = named.iter().map(|named| named.id.as_str()).collect();
    assert!(ids.contains(&"iops") && ids.contains(&"percentiles-read"), "{ids:?}");
    for named in &named {
        assert!(!named.chart.is_empty(), "{}", named.id);
        assert!(named.chart.layers.len() >= 2, "{} overlays both", named.id);
    }
    assert!(page(&sources).contains("after &lt;x&gt;"));
}

#[test]
fn texts_of_devices_and_jobs_are_only_texts() {
    let evil = "<script>alert('x')</script><img src=x onerror=y>&\"";
    let mut result = figures::mixed();
    for target in &mut result.facts.targets {
        target.model = evil.to_owned();
        target.serial = evil.to_owned();
        target.uri = evil.to_owned();
    }
    result.facts.host.hostname = evil.to_owned();
    result.plan.targets.iter_mut().for_each(|uri| *uri = evil.to_owned());
    result.command = vec![evil.to_owned()];
    result.job = serde_json::json!({ "name": evil });
    result.verdicts = vec![evil.to_owned()];
    for point in &mut result.points {
        for workload in &mut point.workloads {
            workload.name = evil.to_owned();
            workload.targets.iter_mut().for_each(|target| target.uri = evil.to_owned());
        }
    }
    let page = page(&[Source { label: evil.to_owned(), result: &result, series: None }]);
    for forbidden in ["<script", "<img", "alert('x')</"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("&lt;script&gt;"));
}
