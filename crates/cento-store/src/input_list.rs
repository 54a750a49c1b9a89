//! The list of inputs of a run, and how it is compared with that of a resumed or added run.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use cento_read::{FieldMap, Input, Role, Settings};

use crate::error::{Error, Result};
use crate::manifest::Run;
use crate::parameters::Parameters;

/// Fails if the inputs of `run` were read with other settings.
pub(crate) fn check_reading(
    path: &Path,
    run: &Run,
    reading: &BTreeMap<String, String>,
) -> Result<()> {
    if *reading == run.reading {
        return Ok(());
    }
    let shown = |reading: &BTreeMap<String, String>, name: &str| match reading.get(name) {
        Some(value) => format!("{name} {value}"),
        None => format!("no {name}"),
    };
    let names = run.reading.keys().chain(reading.keys());
    let differing = names
        .filter(|name| run.reading.get(*name) != reading.get(*name))
        .map(|name| {
            format!(
                "{}, now {}",
                shown(&run.reading, name),
                shown(reading, name)
            )
        })
        .next();
    Err(Error::InputsDiffer {
        path: path.to_owned(),
        detail: format!("they were read with {}", differing.unwrap_or_default()),
    })
}

/// Reads the list of inputs of a run of `corpus`.
pub(crate) fn input_lines(corpus: &Path, run: &Run) -> Result<Vec<String>> {
    let path = corpus.join(&run.inputs.file);
    let list = fs::read(&path).map_err(|error| Error::io(&path, error))?;
    Ok(lines_of(&list))
}

pub(crate) fn lines_of(list: &[u8]) -> Vec<String> {
    let list = String::from_utf8_lossy(list);
    list.lines().map(str::to_owned).collect()
}

/// The list of inputs as it is stored: one line for each.
pub(crate) fn render_inputs(inputs: &[Input]) -> Vec<u8> {
    let mut lines = Vec::new();
    for input in inputs {
        let line = render_input(&input.name, input.bytes, input.version.as_deref());
        lines.extend_from_slice(line.as_bytes());
        lines.push(b'\n');
    }
    lines
}

/// Removes the inputs that a list does not name: they were in the corpus before. Fails if the
/// remaining ones are not those of the list, by name and size. Versions are not compared, because
/// a worker would have to read all small files for that.
pub(crate) fn keep_listed(
    inputs: &mut Vec<Input>,
    list: &[String],
) -> std::result::Result<(), String> {
    let plain = |line: &String| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let name = line["name"].as_str().unwrap_or_default();
        render_input(name, line["bytes"].as_u64(), None)
    };
    let listed: Vec<String> = list.iter().map(plain).collect();
    let known: HashSet<&String> = listed.iter().collect();
    let line = |input: &Input| render_input(&input.name, input.bytes, None);
    inputs.retain(|input| known.contains(&line(input)));
    let found: Vec<String> = inputs.iter().map(line).collect();
    if found == listed {
        return Ok(());
    }
    let missing = |(at, line): &(usize, &String)| found.get(*at) != Some(line);
    let first = listed.iter().enumerate().find(missing);
    let first = first.map_or("nothing", |(_, line)| line.as_str());
    Err(format!(
        "the driver reads {first}, which this node does not find"
    ))
}

pub(crate) fn render_input(name: &str, bytes: Option<u64>, version: Option<&str>) -> String {
    let mut line = serde_json::json!({ "name": name, "bytes": bytes });
    if let Some(version) = version {
        line["version"] = version.into();
    }
    line.to_string()
}

/// The settings that inputs are read with, as far as the user can choose them.
pub(crate) fn render_settings(settings: &Settings) -> BTreeMap<String, String> {
    let limits = &settings.limits;
    let mut reading = BTreeMap::from([
        (
            "max_page_bytes".to_owned(),
            limits.max_page_bytes.to_string(),
        ),
        (
            "max_header_bytes".to_owned(),
            limits.max_header_bytes.to_string(),
        ),
        (
            "max_line_bytes".to_owned(),
            limits.max_line_bytes.to_string(),
        ),
        ("max_ratio".to_owned(), limits.max_ratio.to_string()),
    ]);
    if let Some(base_url) = &settings.base_url {
        reading.insert("base_url".to_owned(), base_url.clone());
    }
    if let Some(format) = settings.format {
        reading.insert("format".to_owned(), format.name().to_owned());
    }
    for role in Role::ALL {
        if let Some(name) = settings.fields.assigned(role) {
            reading.insert(format!("field {role}"), name.to_owned());
        }
    }
    reading
}

/// The settings that [`render_settings`] described, as far as the user can choose them. Limits and
/// the treatment of HTTP errors are parameters of the corpus.
pub(crate) fn parse_settings(
    path: &Path,
    reading: &BTreeMap<String, String>,
    parameters: &Parameters,
) -> Result<Settings> {
    let invalid = |error: cento_read::Error| Error::corrupted(path, error.to_string());
    let mut fields = FieldMap::default();
    for role in Role::ALL {
        if let Some(name) = reading.get(&format!("field {role}")) {
            fields.assign(format!("{role}={name}").parse().map_err(invalid)?);
        }
    }
    Ok(Settings {
        base_url: reading.get("base_url").cloned(),
        fields,
        format: reading
            .get("format")
            .map(|format| format.parse().map_err(invalid))
            .transpose()?,
        keep_status: parameters.any_status,
        limits: (&parameters.limits).into(),
        ..Settings::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_parsed_as_they_were_rendered() {
        let mut settings = Settings {
            base_url: Some("https://a.example/docs/".to_owned()),
            format: Some(cento_read::Format::JsonLines),
            ..Settings::default()
        };
        for field in ["html=source = page", "url=at"] {
            settings
                .fields
                .assign(field.parse().expect("a field assignment"));
        }
        let rendered = render_settings(&settings);
        let path = Path::new("manifest.json");
        let parsed = parse_settings(path, &rendered, &Parameters::default()).expect("valid");
        assert_eq!(render_settings(&parsed), rendered);

        let invalid = BTreeMap::from([("format".to_owned(), "papyrus".to_owned())]);
        parse_settings(path, &invalid, &Parameters::default()).expect_err("an unknown format");
    }
}
