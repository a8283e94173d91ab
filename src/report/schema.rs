//! JSON Schemas (draft 2020-12) of the two files that other programs write or read: the job and the result.
//!
//! Owns the identity and wording of the documents; what they say is derived from the types themselves.

use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::result::{RunResult, SCHEMA};
use crate::spec::Job;

/// The schema of a job file, whose TOML has the shape of this JSON.
#[must_use]
pub fn job() -> Vec<u8> {
    render::<Job>("Job of Rigel", "urn:rigel:schema:job")
}

/// The schema of `result.json`. Fields that later versions add leave a result valid by it, and older results too.
#[must_use]
pub fn result() -> Vec<u8> {
    render::<RunResult>("Result of Rigel", &format!("urn:rigel:schema:result:{SCHEMA}"))
}

fn render<T: JsonSchema>(title: &str, id: &str) -> Vec<u8> {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(plain_words));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("$id".to_owned(), json!(id));
    schema.insert("title".to_owned(), json!(title));
    let mut bytes = serde_json::to_vec_pretty(&schema).expect("a schema has string keys only, in memory");
    bytes.push(b'\n');
    bytes
}

/// Takes the links to the source out of the descriptions.
fn plain_words(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace("[`", "`").replace("`]", "`");
    }
}
