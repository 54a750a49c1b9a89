//! How the inputs of a corpus differ from those that a command names.
//!
//! An input is identified by its name and recognised by its length and its version, see
//! [`Input::identify`]: a digest of a small file; digests of pieces and the time of the last
//! modification of a large one. A small file is therefore recognised whatever the clock says. A
//! large file that was only touched counts as changed, and an edit of a large file that keeps its
//! length and its time and misses all pieces is not noticed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use cento_read::Input;

use crate::error::{Error, Result};
use crate::input_list::{input_lines, render_input};
use crate::manifest::{MANIFEST, Manifest};

/// How many inputs a message names.
const NAMED: usize = 3;

#[derive(serde::Deserialize)]
struct InputLine {
    name: String,
    bytes: Option<u64>,
    version: Option<String>,
}

/// The inputs of a corpus.
#[derive(Default)]
pub(crate) struct KnownInputs {
    lines: HashSet<String>,
    /// By place, the name and the lines: several if an input was added again.
    places: BTreeMap<String, InputLine>,
}

impl KnownInputs {
    /// The inputs of all complete runs of the corpus at `path`.
    pub(crate) fn of_complete_runs(path: &Path) -> Result<KnownInputs> {
        if !path.join(MANIFEST).exists() {
            return Ok(KnownInputs::default());
        }
        KnownInputs::of_runs(path, &Manifest::load(path)?, false)
    }

    /// The inputs of the runs of a corpus; with `unfinished`, also those of its unfinished run.
    pub(crate) fn of_runs(
        path: &Path,
        manifest: &Manifest,
        unfinished: bool,
    ) -> Result<KnownInputs> {
        let mut known = KnownInputs::default();
        for run in &manifest.runs {
            if unfinished || run.complete {
                known.extend(&path.join(&run.inputs.file), input_lines(path, run)?)?;
            }
        }
        Ok(known)
    }

    /// The inputs of the list at `path`, which has these lines.
    pub(crate) fn of_lines(path: &Path, lines: Vec<String>) -> Result<KnownInputs> {
        let mut known = KnownInputs::default();
        known.extend(path, lines)?;
        Ok(known)
    }

    fn extend(&mut self, path: &Path, lines: Vec<String>) -> Result<()> {
        for line in lines {
            let input: InputLine = serde_json::from_str(&line)
                .map_err(|error| Error::corrupted(path, error.to_string()))?;
            let place = place(&input.name);
            let line = render_input(&place, input.bytes, input.version.as_deref());
            self.lines.insert(line);
            self.places.insert(place, input);
        }
        Ok(())
    }

    /// Whether an input with the same place, size and version is in the corpus. A stream never is:
    /// its content is unknown.
    pub(crate) fn has(&self, input: &Input) -> bool {
        input.bytes.is_some() && self.lists(input)
    }

    /// Like [`KnownInputs::has`], but a stream is recognised by its name.
    pub(crate) fn lists(&self, input: &Input) -> bool {
        let place = place(&input.name);
        let is_listed = |version: Option<&str>| {
            let line = render_input(&place, input.bytes, version);
            self.lines.contains(&line)
        };
        // Lists of older corpora have no versions, only names and sizes.
        is_listed(input.version.as_deref()) || is_listed(None)
    }

    /// Compares the inputs of the corpus with those that a command names.
    pub(crate) fn compare(&self, requested: &[Input]) -> InputChanges {
        let mut changes = InputChanges::default();
        let mut named: HashSet<String> = HashSet::new();
        let mut new: Vec<&Input> = Vec::new();
        for input in requested {
            let place = place(&input.name);
            let is_known = self.places.contains_key(&place);
            named.insert(place);
            match (is_known, input.bytes.is_none()) {
                (true, true) => changes.streams.push(input.name.clone()),
                (true, false) if self.lists(input) => changes.unchanged += 1,
                (true, false) => changes.changed.push(input.name.clone()),
                (false, _) => new.push(input),
            }
        }
        // A file that was renamed has the same content. Of several with the same content, any one
        // may be the renamed one.
        let mut by_content: HashMap<(Option<u64>, &str), Vec<&str>> = HashMap::new();
        for input in new.iter().rev() {
            if let Some(version) = &input.version {
                let same = by_content.entry((input.bytes, version)).or_default();
                same.push(&input.name);
            }
        }
        for (place, input) in &self.places {
            if named.contains(place) {
                continue;
            }
            let version = input.version.as_deref().unwrap_or_default();
            let renamed = by_content.get_mut(&(input.bytes, version));
            match renamed.and_then(Vec::pop) {
                Some(now) => changes.renamed.push((input.name.clone(), now.to_owned())),
                None => changes.missing.push(input.name.clone()),
            }
        }
        changes.new = new.into_iter().map(|input| input.name.clone()).collect();
        changes
    }
}

/// The absolute path of an input, so that `docs`, `./docs/` and `/home/me/docs` are one folder.
/// Addresses and standard input are their own place.
fn place(name: &str) -> String {
    if name == "-" || name.contains("://") {
        return name.to_owned();
    }
    let path = std::path::absolute(name);
    path.map_or_else(|_| name.to_owned(), |path| path.display().to_string())
}

/// How the inputs of a corpus differ from those that a command names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputChanges {
    /// The number of inputs that are as they were.
    pub unchanged: u64,
    /// Names of inputs that the corpus does not have.
    pub new: Vec<String>,
    /// Names of inputs that have other content than when they were indexed.
    pub changed: Vec<String>,
    /// Names of inputs of the corpus that the command does not name.
    pub missing: Vec<String>,
    /// Former and current names of inputs that have another name but the same content.
    pub renamed: Vec<(String, String)>,
    /// Names of streams that the corpus was made from: their content cannot be compared.
    pub streams: Vec<String>,
}

impl InputChanges {
    /// Whether the corpus has pages that the inputs do not have.
    pub(crate) fn is_stale(&self) -> bool {
        !(self.changed.is_empty()
            && self.missing.is_empty()
            && self.renamed.is_empty()
            && self.streams.is_empty())
    }

    /// The error of a command that may only add inputs to the corpus at `path`.
    pub(crate) fn error(self, path: &Path) -> Option<Error> {
        self.is_stale().then(|| Error::InputsChanged {
            path: path.to_owned(),
            changes: Box::new(self),
        })
    }

    /// Says what has changed, in one line.
    pub(crate) fn sentence(&self, path: &Path) -> String {
        let corpus = path.display();
        if let Some(stream) = self.streams.first() {
            return format!("{corpus} was made from {stream}, which cannot be read a second time");
        }
        if self.unchanged == 0 && self.changed.is_empty() && self.renamed.is_empty() {
            return format!(
                "{corpus} was made from other inputs: {}",
                examples(&self.missing)
            );
        }
        let files = |count: usize| match count {
            1 => "1 input".to_owned(),
            count => format!("{count} inputs"),
        };
        let has = |count: usize| if count == 1 { "has" } else { "have" };
        let mut parts = Vec::new();
        let (changed, missing, renamed) =
            (self.changed.len(), self.missing.len(), self.renamed.len());
        if changed > 0 {
            let (files, names) = (files(changed), examples(&self.changed));
            parts.push(format!("{files} {} changed ({names})", has(changed)));
        }
        if missing > 0 {
            let (files, names) = (files(missing), examples(&self.missing));
            let are = if missing == 1 { "is" } else { "are" };
            parts.push(format!("{files} {are} missing ({names})"));
        }
        if let Some((former, current)) = self.renamed.first() {
            let files = files(renamed);
            parts.push(format!(
                "{files} {} another path ({former} is now {current})",
                has(renamed)
            ));
        }
        format!("since {corpus} was made, {}", parts.join(", "))
    }

    /// Says what to do about it, in one line.
    pub(crate) fn hint(&self) -> String {
        let refresh = "--refresh indexes all inputs anew and replaces the corpus";
        if self.unchanged == 0 && self.changed.is_empty() && self.renamed.is_empty() {
            return format!(
                "`cento index --add` adds inputs to it; {refresh}; or choose another one with -o"
            );
        }
        format!("{refresh}; or name the corpus itself to use it as it is")
    }
}

/// Some of these names.
pub(crate) fn examples(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
