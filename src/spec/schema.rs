//! JSON Schemas of the values that a job may write in several ways: sizes, durations, rates, URIs, lists.
//!
//! Owns their patterns and limits, which say no less than `scalar`, `load`, `open` and the others accept: whatever the
//! parser takes is valid, and what a schema can say of the rest is refused. Rules that need several fields, devices or
//! the text's meaning are the parser's alone.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::access::Access;
use super::access_form::{BANDS_MAX, THETA_MAX};
use super::cores::CoreList;
use super::load::{OUTSTANDING_MAX, QUEUE_DEPTH_MAX, SWEEP_POINTS_MAX};
use super::open::RATE_MAX;
use super::payload::{PayloadSpec, RATIO_MAX, Reduction};
use super::region::RegionSpec;
use super::scalar::BLOCK_SIZE_MAX;
use super::sizes::{SIZES_MAX, SizeMix};
use super::steps::{RUN_FIELDS, WORKLOAD_FIELDS};
use super::sweep::{LOADS, REPEATS_MAX, Sweep};
use super::uri::{SCHEMES, Uri};
use super::volume::Volume;

/// A size in text, as [`crate::units::parse_size`] reads it.
const SIZE: &str = r"[0-9]+\s*([bB]|[kKmMgGtTpP]([iI]?[bB])?)?";
/// A duration in text, as [`crate::units::parse_duration`] reads it.
const DURATION: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|µs|ms|s|m|min|h|d)";
/// A rate in text, as [`crate::units::parse_rate`] reads it.
const RATE: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)\s*[kKmM]?";
/// A share of a target.
const PERCENT: &str = r"[0-9]+\.?[0-9]*\s*%*";
/// A share in text, 0 to 100 or 0 to 1, or an exponent; numbers as Rust reads them.
const SHARE: &str = r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*%*";

/// The whole text is of `form`, spaces around it aside.
fn text(form: &str) -> Value {
    json!({"type": "string", "pattern": format!(r"^\s*({form})\s*$")})
}

fn whole(range: std::ops::RangeInclusive<u64>) -> Value {
    json!({"type": "integer", "minimum": range.start(), "maximum": range.end()})
}

fn list(each: &Value) -> Schema {
    json_schema!({"type": "array", "items": each, "minItems": 1, "maxItems": SWEEP_POINTS_MAX})
}

fn rate_value() -> Value {
    json!({"anyOf": [whole(1..=RATE_MAX), text(RATE)]})
}

fn queue_depth_value() -> Value {
    whole(1..=u64::from(QUEUE_DEPTH_MAX))
}

fn outstanding_value() -> Value {
    whole(1..=u64::from(OUTSTANDING_MAX))
}

fn schema(value: Value) -> Schema {
    value.try_into().expect("a schema is an object")
}

fn size_value() -> Value {
    json!({"anyOf": [whole(1..=BLOCK_SIZE_MAX), text(SIZE)]})
}

fn share_value() -> Value {
    json!({"anyOf": [{"type": "number", "minimum": 0, "maximum": 100}, text(SHARE)]})
}

pub(super) fn size(_: &mut SchemaGenerator) -> Schema {
    schema(size_value())
}

pub(super) fn share(_: &mut SchemaGenerator) -> Schema {
    schema(share_value())
}

pub(super) fn unit(_: &mut SchemaGenerator) -> Schema {
    let whole = json!({"type": "integer", "minimum": 512, "maximum": BLOCK_SIZE_MAX, "multipleOf": 512});
    json_schema!({"anyOf": [whole, text(SIZE)], "examples": ["4k", 4096]})
}

pub(super) fn ratio(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "number", "minimum": 1, "maximum": RATIO_MAX})
}

pub(super) fn percent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "number", "minimum": 0, "maximum": 100})
}

pub(super) fn duration(_: &mut SchemaGenerator) -> Schema {
    schema(text(DURATION))
}

pub(super) fn rate(_: &mut SchemaGenerator) -> Schema {
    schema(rate_value())
}

pub(super) fn queue_depth(_: &mut SchemaGenerator) -> Schema {
    schema(queue_depth_value())
}

pub(super) fn outstanding(_: &mut SchemaGenerator) -> Schema {
    schema(outstanding_value())
}

pub(super) fn seed(_: &mut SchemaGenerator) -> Schema {
    schema(whole(0..=i64::MAX as u64))
}

pub(super) fn strings(_: &mut SchemaGenerator) -> Schema {
    let one = json!({"type": "string", "pattern": r"\S"});
    json_schema!({"anyOf": [&one, {"type": "array", "items": &one}]})
}

pub(super) fn target_refs(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]},
        "minItems": 1,
    })
}

/// Some field is given.
pub(super) fn some_field(shares: &mut Schema) {
    shares.insert("minProperties".to_owned(), json!(1));
}

/// The loads of a workload exclude each other, and so do the size of all I/Os and those of reads or writes.
pub(super) fn exclusive_fields(workload: &mut Schema) {
    let pairs = [
        ["queue_depth", "outstanding"],
        ["queue_depth", "rate"],
        ["outstanding", "rate"],
        ["think_time", "rate"],
        ["mix", "read_percent"],
        ["block_size", "read_block_size"],
        ["block_size", "write_block_size"],
    ];
    let both: Vec<Value> = pairs.iter().map(|pair| json!({"required": pair})).collect();
    workload.insert("not".to_owned(), json!({"anyOf": both}));
}

impl JsonSchema for PayloadSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PayloadSpec".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"const": "zeroes"}, generator.subschema_for::<Reduction>()]})
    }
}

/// A type that is written as text.
macro_rules! written_as_text {
    ($type:ty, $name:literal, $says:literal, $form:expr) => {
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = schema(text(&$form));
                schema.insert("description".to_owned(), $says.into());
                schema
            }
        }
    };
}

written_as_text!(
    Uri,
    "Uri",
    "A target: SCHEME://… or the absolute path of a device or file.",
    format!(r"/.*|({})://.*", SCHEMES.join("|"))
);
written_as_text!(
    CoreList,
    "CoreList",
    "Core numbers and ranges of them, such as 1-3,5.",
    r"\s*[0-9]+\s*(-\s*[0-9]+\s*)?(,\s*[0-9]+\s*(-\s*[0-9]+\s*)?)*"
);
written_as_text!(
    Volume,
    "Volume",
    "Targets as one address space: concat, or stripe:SIZE.",
    format!(r"concat|stripe:\s*{SIZE}")
);
written_as_text!(
    RegionSpec,
    "RegionSpec",
    "Part of a target: whole, 1g (the first), 1g-2g, 10%-20%.",
    format!(r"whole|({SIZE}\s*-\s*)?{SIZE}|({PERCENT}\s*-\s*)?{PERCENT}")
);

impl JsonSchema for Sweep {
    fn schema_name() -> Cow<'static, str> {
        "Sweep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let any = json!({"type": "array", "minItems": 1, "maxItems": SWEEP_POINTS_MAX});
        let fields = WORKLOAD_FIELDS.iter().chain(&RUN_FIELDS).filter(|field| !LOADS.contains(field));
        let mut properties: serde_json::Map<String, Value> =
            fields.map(|field| ((*field).to_owned(), any.clone())).collect();
        let share = json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1000});
        let shares = json!({
            "type": "object",
            "properties": {"percent_of_max": {"type": "array", "items": share, "minItems": 1}},
            "required": ["percent_of_max"],
            "additionalProperties": false,
        });
        let own = [
            ("queue_depth", list(&queue_depth_value()).into()),
            ("outstanding", list(&outstanding_value()).into()),
            ("rate", json!({"anyOf": [list(&rate_value()), shares]})),
            (
                "repeats",
                json!({"anyOf": [whole(1..=REPEATS_MAX.into()), text(r"steady(\s*:\s*[0-9]+)?")],
                       "description": "How often each point is held, or \"steady\": in rounds until five in a row are steady."}),
            ),
            ("pause", text(DURATION)),
            ("shuffle", json!({"type": "boolean"})),
            ("stop", json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})),
        ];
        properties.extend(own.into_iter().map(|(field, schema): (&str, Value)| (field.to_owned(), schema)));
        let pairs = [["queue_depth", "outstanding"], ["queue_depth", "rate"], ["outstanding", "rate"]];
        let both: Vec<Value> = pairs.iter().map(|pair| json!({"required": pair})).collect();
        json_schema!({
            "description": "What the points step through: fields with their values, the last one changing with every point.",
            "type": "object",
            "properties": properties,
            "patternProperties": {r"^(workload|run)\..+": any},
            "additionalProperties": false,
            "minProperties": 1,
            "not": {"anyOf": both},
        })
    }
}

impl JsonSchema for SizeMix {
    fn schema_name() -> Cow<'static, str> {
        "SizeMix".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mix = format!(r"({SIZE}\s*:\s*{SHARE}\s*,\s*)*{SIZE}\s*:\s*{SHARE}");
        json_schema!({
            "description": "Bytes of each I/O, or sizes with their shares of the I/Os, which add up to 100 per cent.",
            "anyOf": [
                size_value(),
                text(&mix),
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"size": size_value(), "share": share_value()},
                        "required": ["size", "share"],
                        "additionalProperties": false,
                    },
                    "minItems": 1,
                    "maxItems": SIZES_MAX,
                },
            ],
            "examples": ["8k", 8192, "4k:60,64k:40"],
        })
    }
}

impl JsonSchema for Access {
    fn schema_name() -> Cow<'static, str> {
        "Access".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let table = |pattern: &str, fields: Value, required: &[&str]| {
            let mut properties = json!({"pattern": {"const": pattern}});
            if let (Value::Object(all), Value::Object(fields)) = (&mut properties, fields) {
                all.extend(fields);
            }
            let required: Vec<&str> = required.iter().copied().chain(["pattern"]).collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
        };
        let (share, flag) = (share_value(), json!({"type": "boolean"}));
        let fraction =
            json!({"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, text(SHARE)]});
        let stride = json!({"anyOf": [{"type": "integer", "minimum": 1}, text(SIZE)]});
        let band = json!({
            "type": "object",
            "properties": {"accesses": &share, "region": text(&format!("whole|({PERCENT}\\s*-\\s*)?{PERCENT}"))},
            "required": ["accesses", "region"],
            "additionalProperties": false,
        });
        let theta = json!({"type": "number", "exclusiveMinimum": 0, "maximum": THETA_MAX});
        let short = format!(
            r"random|sequential|permutation|strided\s*:\s*{SIZE}|(zipf|pareto|normal)\s*:\s*{SHARE}|hot\s*:\s*{SHARE}\s*/\s*{SHARE}"
        );
        json_schema!({
            "description": "Which addresses of the region are touched, and how often.",
            "anyOf": [
                text(&short),
                table("random", json!({}), &[]),
                table("sequential", json!({}), &[]),
                table("permutation", json!({}), &[]),
                table("strided", json!({"stride": stride}), &["stride"]),
                table("zipf", json!({"theta": theta, "scatter": &flag}), &["theta"]),
                table("pareto", json!({"share": fraction, "scatter": &flag}), &["share"]),
                table("normal", json!({"deviation": &share}), &["deviation"]),
                table("hot", json!({"accesses": &share, "space": &share, "moves": text(DURATION)}), &["accesses", "space"]),
                table(
                    "bands",
                    json!({"bands": {"type": "array", "items": band, "minItems": 1, "maxItems": BANDS_MAX}}),
                    &["bands"],
                ),
            ],
            "examples": ["random", "zipf:0.99", {"pattern": "hot", "accesses": "80%", "space": "20%"}],
        })
    }
}
