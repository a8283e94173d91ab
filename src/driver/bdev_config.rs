//! The SPDK configuration that serves a job's bdev targets. Owns its JSON; starts nothing.

use std::path::Path;

use serde_json::{Value, json};
use spdk_wrapper::bdev::LayerError;

use super::DriverError;
use crate::spec::{Delay, Iscsi, Malloc, Secret, Uri};

/// Name under which we log in to iSCSI targets.
const INITIATOR: &str = "iqn.2026-11.io.rigel:initiator";

/// A configuration and, for each target, the name of its bdev.
#[derive(Debug)]
pub(super) struct BdevConfig {
    pub json: String,
    pub names: Vec<String>,
}

/// Memory that the targets themselves take, in MiB.
pub(super) fn memory_mib(uris: &[Uri]) -> u64 {
    let bytes = |uri: &Uri| if let Uri::Malloc(malloc) = uri { malloc.size.0 } else { 0 };
    uris.iter().map(|uri| bytes(uri).div_ceil(1 << 20)).sum()
}

/// One configuration for all targets. Files that targets name are taken whole, each once.
pub(super) fn make(uris: &[Uri]) -> Result<BdevConfig, DriverError> {
    let mut methods = Vec::new();
    if !uris.iter().any(|uri| matches!(uri, Uri::Bdev { .. })) {
        // Examining looks for bdevs to be built upon others, and reads from the targets to find them: reads that nobody
        // asked for, and that the target counts. A configuration of the user's own may rely on it.
        methods.push(method("bdev_set_options", json!({"bdev_auto_examine": false})));
    }
    let mut others: Vec<Value> = Vec::new();
    let mut files: Vec<&Path> = Vec::new();
    let mut names = Vec::new();
    for (index, uri) in uris.iter().enumerate() {
        let name = match uri {
            Uri::Malloc(malloc) => malloc_bdev(index, malloc, &mut methods),
            Uri::Iscsi(lun) => {
                let name = format!("iscsi{index}");
                let url = iscsi_url(lun).map_err(|reason| DriverError::target(uri, reason))?;
                methods
                    .push(method("bdev_iscsi_create", json!({"name": name, "url": url, "initiator_iqn": INITIATOR})));
                name
            }
            Uri::Bdev { name, config } => {
                if !files.contains(&config.as_path()) {
                    files.push(config);
                    others.extend(subsystems_of(config).map_err(|reason| DriverError::target(uri, reason))?);
                }
                name.clone()
            }
            other => return Err(DriverError::target(other, "is no bdev target")),
        };
        names.push(name);
    }
    others.push(json!({"subsystem": "bdev", "config": methods}));
    Ok(BdevConfig { json: json!({"subsystems": others}).to_string(), names })
}

/// Says which target made the layer's start fail, as far as that can be told.
pub(super) fn explain(uris: &[Uri], error: &LayerError) -> DriverError {
    match uris.iter().find(|uri| matches!(uri, Uri::Iscsi(_))) {
        Some(uri @ Uri::Iscsi(lun)) => {
            let at = format!("{}:{}", lun.host, lun.port);
            let said = error.to_string();
            let reason = if matches!(error, LayerError::TimedOut { .. }) {
                format!(
                    "{at} accepts connections but does not answer; check that the target is alive and that it is the right port ({said})"
                )
            } else if said.contains("Target not found") {
                format!("there is no target `{}` at {at}; check the name ({said})", lun.iqn)
            } else if said.contains("Failed to log in") {
                format!(
                    "logging in at {at} failed; check user and secret, and that this host may use the target ({said})"
                )
            } else {
                format!("the target `{}` at {at} did not give LUN {}; check that it exists ({said})", lun.iqn, lun.lun)
            };
            DriverError::target(uri, reason)
        }
        _ => match uris.first() {
            Some(uri) => DriverError::target(uri, error),
            None => DriverError::SetUp(error.to_string()),
        },
    }
}

fn method(name: &str, params: Value) -> Value {
    json!({"method": name, "params": params})
}

fn malloc_bdev(index: usize, malloc: &Malloc, methods: &mut Vec<Value>) -> String {
    let base = format!("malloc{index}");
    let blocks = malloc.size.0 / u64::from(malloc.block_size);
    methods.push(method(
        "bdev_malloc_create",
        json!({"name": base, "num_blocks": blocks, "block_size": malloc.block_size}),
    ));
    if malloc.read == Delay::default() && malloc.write == Delay::default() {
        return base;
    }
    let name = format!("delay{index}");
    let us = |duration: std::time::Duration| duration.as_micros() as u64;
    let params = json!({
        "name": name,
        "base_bdev_name": base,
        "avg_read_latency": us(malloc.read.mean),
        "p99_read_latency": us(malloc.read.p99),
        "avg_write_latency": us(malloc.write.mean),
        "p99_write_latency": us(malloc.write.p99),
    });
    methods.push(method("bdev_delay_create", params));
    name
}

/// The URL as libiscsi reads it, secret included: it goes to SPDK and nowhere else.
fn iscsi_url(lun: &Iscsi) -> Result<String, String> {
    let host = if lun.host.contains(':') { format!("[{}]", lun.host) } else { lun.host.clone() };
    let login = match (&lun.user, &lun.secret) {
        (Some(user), Some(secret)) => format!("{user}%{}@", look_up(secret)?),
        (Some(user), None) => format!("{user}@"),
        _ => String::new(),
    };
    Ok(format!("iscsi://{login}{host}:{}/{}/{}", lun.port, lun.iqn, lun.lun))
}

fn look_up(secret: &Secret) -> Result<String, String> {
    match secret {
        Secret::Inline(secret) => Ok(secret.clone()),
        Secret::Env(name) => std::env::var(name)
            .map_err(|_| format!("the environment variable {name}, named for the secret, is not set")),
        Secret::File(path) => std::fs::read_to_string(path)
            .map(|text| text.lines().next().unwrap_or_default().trim().to_owned())
            .map_err(|error| format!("the file {} named for the secret cannot be read ({error})", path.display())),
    }
}

fn subsystems_of(path: &Path) -> Result<Vec<Value>, String> {
    let file = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("its configuration {file} cannot be read ({error})"))?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| format!("its configuration {file} is not JSON ({error})"))?;
    match json.get("subsystems").and_then(Value::as_array) {
        Some(subsystems) => Ok(subsystems.clone()),
        None => Err(format!(
            "its configuration {file} has no `subsystems` list; use the form that SPDK's applications take by -c"
        )),
    }
}
