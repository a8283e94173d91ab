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
