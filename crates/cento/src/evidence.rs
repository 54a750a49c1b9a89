//! `cento detect --evidence`: a folder with one HTML file for each site that shares text with the
//! originals.
//!
//! The folder is written aside and renamed when it is complete, so that it is complete or absent.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use cento_file::PrivateFolder;
use cento_find::detect::CopiedPassagesSummary;
use cento_find::{CorpusPages, Findings};
use cento_report::format::{counted, number, plural};
use cento_report::{EvidenceHead, ReportCell, ReportTable, evidence_end};
use cento_scan::{
    EvidenceMethod, SiteEvidence, evidence_file_names, evidence_head, evidence_sites,
    for_each_evidence,
};
use cento_store::Parameters;

use crate::command_error::CommandError;
use crate::command_line::typed_command;
use crate::files::cannot_write;
use crate::report::ReproducibleArguments;

/// The list of all sites.
const INDEX: &str = "index.html";
/// Inputs that are named.
const INPUTS: usize = 5;

/// Fails if the folder cannot be written: before the work rather than after it.
pub(crate) fn check_folder(folder: &Path, overwrite: bool) -> Result<(), CommandError> {
    let entries = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(CommandError::io(folder, &error)),
        Ok(_) if !overwrite => {
            return Err(CommandError::usage(
                format!("{} exists", folder.display()),
                "name another folder, or replace this one with --overwrite",
            ));
        }
        Ok(_) => fs::read_dir(folder).map_err(|error| CommandError::io(folder, &error))?,
    };
    // Only a folder of evidence is replaced: it has an index and other HTML files.
    let mut is_evidence = folder.join(INDEX).is_file();
    for entry in entries {
        let path = entry.map_err(|error| CommandError::io(folder, &error))?;
        let path = path.path();
        let is_page = path.extension().is_some_and(|ending| ending == "html");
        is_evidence &= is_page && fs::symlink_metadata(&path).is_ok_and(|file| file.is_file());
    }
    match is_evidence {
        true => Ok(()),
        false => Err(CommandError::usage(
            format!("{} is not a folder of --evidence", folder.display()),
            "name another folder: only a folder that --evidence wrote is replaced",
        )),
    }
}

/// What is compared, for the head of each file.
pub(crate) struct ComparedInputs<'a> {
    pub(crate) corpus: &'a CorpusPages,
    pub(crate) originals: &'a CorpusPages,
    /// The originals as they were typed.
    pub(crate) against: &'a [String],
    /// The fewest bytes of a chunk.
    pub(crate) min_length: u64,
    /// Pages of the corpus that were searched, without those of the owner.
    pub(crate) searched: u64,
    /// The domains whose pages were ignored.
    pub(crate) own: &'a [String],
}

/// Describes what was compared, when and how.
pub(crate) fn method(
    compared: &ComparedInputs<'_>,
    reproducible: &ReproducibleArguments,
) -> Result<EvidenceMethod, CommandError> {
    let version = env!("CARGO_PKG_VERSION");
    let first = compared.corpus.corpora().first();
    let parameters: Parameters = first
        .map(|corpus| corpus.parameters().clone())
        .unwrap_or_default();
    let mut names = Vec::new();
    for corpus in compared.corpus.corpora() {
        names.extend(corpus.inputs()?.into_iter().map(|(_, name)| name));
    }
    let mut shown: Vec<String> = names.iter().take(INPUTS).cloned().collect();
    if names.len() > INPUTS {
        shown.push(format!("{} more", names.len() - INPUTS));
    }
    let against = compared.against.iter();
    let against: Vec<String> = against
        .map(|input| cento_read::without_credentials(input))
        .collect();
    let mut sentences = vec![
        match reproducible.time() {
            Some(millis) => format!(
                "Written on {} (UTC) by cento {version}.",
                cento_text::date::render(millis)
            ),
            None => format!("Written by cento {version}."),
        },
        format!(
            "{} from {} ({}) {} compared with {} (the reference texts: {}).",
            counted(compared.searched, "page", "pages"),
            counted(names.len() as u64, "input", "inputs"),
            shown.join(", "),
            plural(compared.searched, "was", "were"),
            counted(u64::from(compared.originals.kept()), "reference text", "reference texts"),
            against.join(", "),
        ),
        format!(
            "A page is listed if it has a chunk (unit: {}; normalisation: {}) of at least {} bytes \
             in common with a reference text. A chunk of several reference texts is attributed to \
             the one with the most chunks on the page, a chunk of more than 256 to none by itself. \
             Each page was then aligned word by word with the texts to which its chunks are \
             attributed.",
            parameters.chunk, parameters.normalisation, compared.min_length
        ),
        "The payload is the body of the HTTP response with its content coding, or the file, or the \
         text of a row of a table. Its SHA-1 was computed by cento and equals the \
         WARC-Payload-Digest of an archive that states it correctly; it is given in hexadecimal \
         digits, and in base 32 as in such archives."
            .to_owned(),
        "A link is a hyperlink, the cite attribute of a quotation, the address of a frame, or the \
         canonical address that a page states. Parameters of addresses that only track visitors \
         are ignored."
            .to_owned(),
    ];
    if !compared.own.is_empty() {
        sentences.push(format!(
            "Pages of {} were not compared.",
            compared.own.join(", ")
        ));
    }
    Ok(EvidenceMethod {
        sentences,
        command: typed_command(),
    })
}

/// Writes the folder, and returns the number of sites.
pub(crate) fn write(
    findings: &Findings,
    method: &EvidenceMethod,
    folder: &Path,
    overwrite: bool,
) -> Result<usize, CommandError> {
    check_folder(folder, overwrite)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let failed = |error: std::io::Error| cannot_write(folder, &error);
    let aside = PrivateFolder::create(parent).map_err(failed)?;
    let written = aside.path().join("evidence");
    fs::create_dir(&written).map_err(failed)?;
    let sites = evidence_sites(findings)?;
    let names = evidence_file_names(sites.keys().map(String::as_str));
    let file_of =
        |site: &str| -> PathBuf { written.join(names.get(site).map_or(INDEX, String::as_str)) };
    for (name, site) in &sites {
        let mut file = File::create_new(file_of(name)).map_err(failed)?;
        let head = evidence_head(name, site, method).html();
        file.write_all(head.as_bytes()).map_err(failed)?;
    }
    let append = |site: &str, html: &str| -> Result<File, CommandError> {
        let file = OpenOptions::new().append(true).open(file_of(site));
        let mut file = file.map_err(failed)?;
        file.write_all(html.as_bytes()).map_err(failed)?;
        Ok(file)
    };
    for_each_evidence(findings, |site, entry| {
        append(site, &entry.html()).map(drop)
    })?;
    for name in sites.keys() {
        let file = append(name, &evidence_end())?;
        file.sync_all().map_err(failed)?;
    }
    let mut index = File::create_new(written.join(INDEX)).map_err(failed)?;
    let sharing = findings.summary::<CopiedPassagesSummary>()?.sharing;
    let list = index_page(&sites, &names, method, sharing.sites);
    index.write_all(list.as_bytes()).map_err(failed)?;
    index.sync_all().map_err(failed)?;
    if overwrite && fs::symlink_metadata(folder).is_ok() {
        fs::rename(folder, aside.path().join("replaced")).map_err(failed)?;
    }
    // Fails if somebody else has made the folder since, unless it is empty.
    fs::rename(&written, folder).map_err(failed)?;
    Ok(sites.len())
}

/// Lists all sites with their files. `sharing` is the number of sites with text of the originals,
/// whether or not it is attributed to one of them.
fn index_page(
    sites: &BTreeMap<String, SiteEvidence>,
    names: &BTreeMap<String, String>,
    method: &EvidenceMethod,
    sharing: u64,
) -> String {
    let rows = sites.iter().map(|(name, site)| {
        vec![
            ReportCell::Evidence {
                target: names.get(name).cloned().unwrap_or_default(),
                text: name.clone(),
            },
            ReportCell::Count(site.pages),
            ReportCell::Count(site.passages),
            ReportCell::Count(site.words),
        ]
    });
    let columns = ["site", "pages", "passages", "words in common"];
    let table = ReportTable {
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        ..ReportTable::default()
    };
    let mut summary = vec![match sharing {
        0 => "No site shares text with the reference texts.".to_owned(),
        1 => "1 site shares text with the reference texts.".to_owned(),
        some => format!(
            "{} sites share text with the reference texts.",
            number(some)
        ),
    }];
    let unlisted = sharing.saturating_sub(sites.len() as u64);
    if unlisted > 0 {
        summary.push(format!(
            "{} not listed: all chunks in common are in more than 256 reference texts, and are \
             attributed to none.",
            counted(unlisted, "of them is", "of them are"),
        ));
    }
    let head = EvidenceHead {
        site: "All sites".to_owned(),
        summary,
        method: method.sentences.clone(),
        command: method.command.clone(),
    };
    let rows = table.rows_html(&[], "");
    format!("{}{rows}{}", head.html(), evidence_end())
}
