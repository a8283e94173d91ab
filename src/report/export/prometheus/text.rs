//! The text format of Prometheus, version 0.0.4: families with help and type, samples with labels.
//!
//! Owns the grouping by family, which the format demands, and the escapes. Knows no metric.

use std::fmt::Write;

use super::Labels;

/// Families in the order of their first sample.
#[derive(Default)]
pub(super) struct Text {
    families: Vec<Family>,
}

struct Family {
    name: String,
    head: String,
    samples: String,
}

impl Text {
    /// Adds a sample of a gauge.
    pub(super) fn gauge(&mut self, name: &str, help: &str, labels: Labels, value: f64) {
        write_sample(self.family(name, "gauge", help), name, &labels, value);
    }

    /// Adds the samples of one summary; `quantiles` as shares, `mean` in the unit of the name.
    pub(super) fn summary(
        &mut self,
        name: &str,
        help: &str,
        labels: Labels,
        quantiles: &[(String, f64)],
        mean: f64,
        count: u64,
    ) {
        let samples = self.family(name, "summary", help);
        for (share, value) in quantiles {
            let mut labels = labels.clone();
            labels.push(("quantile", share));
            write_sample(samples, name, &labels, *value);
        }
        write_sample(samples, &format!("{name}_sum"), &labels, mean * count as f64);
        write_sample(samples, &format!("{name}_count"), &labels, count as f64);
    }

    /// The whole text.
    pub(super) fn finish(self) -> Vec<u8> {
        self.families.into_iter().flat_map(|family| [family.head, family.samples]).collect::<String>().into_bytes()
    }

    /// The samples of a family, which is made if it is new.
    fn family(&mut self, name: &str, kind: &str, help: &str) -> &mut String {
        let known = self.families.iter().position(|family| family.name == name);
        let at = known.unwrap_or_else(|| {
            let head = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
            self.families.push(Family { name: name.to_owned(), head, samples: String::new() });
            self.families.len() - 1
        });
        &mut self.families[at].samples
    }
}

fn write_sample(samples: &mut String, name: &str, labels: &Labels, value: f64) {
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    writeln!(samples, "{name}{labels} {value}").expect("a String takes all");
}

fn escaped(label: &str) -> String {
    label.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_family_stand_together_and_labels_are_escaped() {
        let mut text = Text::default();
        for (name, label) in [("a", "x\\\"\n"), ("b", ""), ("a", "y")] {
            text.gauge(name, "Help.", vec![("l", label)], 0.5);
        }
        let expected = "# HELP a Help.\n# TYPE a gauge\na{l=\"x\\\\\\\"\\n\"} 0.5\na{l=\"y\"} 0.5\n\
                        # HELP b Help.\n# TYPE b gauge\nb{l=\"\"} 0.5\n";
        assert_eq!(String::from_utf8(text.finish()).unwrap(), expected);
    }
}
