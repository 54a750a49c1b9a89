//! Checks the first lines for the fields that the user named.

use memchr::memmem::Finder;

use super::pick::{FieldPlan, names};
use crate::{Error, FieldMap, Role};

/// The number of objects without text after which the field is missing.
const PATIENCE: u32 = 1000;

/// The number of objects whose field names are shown in the error message.
const SHOWN: usize = 10;

/// Checks that all named fields occur.
pub(crate) struct FieldProbe {
    /// The fields that have not been seen yet.
    watches: Vec<FieldWatch>,
    found: Vec<String>,
    named: usize,
    objects: u32,
    text_seen: bool,
}

struct FieldWatch {
    /// A field that the user named. None for text under one of the usual names.
    named: Option<(Role, String)>,
    roles: Vec<Role>,
    plan: FieldPlan,
    /// The keys as they occur in a line. None if they may be written in several ways.
    keys: Option<Vec<Finder<'static>>>,
}

impl FieldWatch {
    fn new(fields: &FieldMap, roles: &[Role], named: Option<(Role, String)>) -> Self {
        let keys = roles
            .iter()
            .flat_map(|&role| fields.names(role))
            .flat_map(|name| [name, name.rsplit('.').next().unwrap_or(name)])
            .map(|key| {
                // Other characters may be written as escapes.
                key.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte))
                    .then(|| Finder::new(&format!("\"{key}\"")).into_owned())
            })
            .collect();
        FieldWatch {
            named,
            roles: roles.to_vec(),
            plan: FieldPlan::for_roles(fields, roles),
            keys,
        }
    }

    fn is_text(&self) -> bool {
        self.roles.contains(&Role::Text) || self.roles.contains(&Role::Html)
    }

    fn sees(&self, line: &[u8]) -> bool {
        let maybe = match &self.keys {
            Some(keys) => keys.iter().any(|key| key.find(line).is_some()),
            None => true,
        };
        maybe
            && self
                .plan
                .pick(line)
                .is_ok_and(|picked| self.roles.iter().any(|&role| self.plan.has(&picked, role)))
    }
}

impl FieldProbe {
    pub(crate) fn new(fields: &FieldMap) -> Self {
        let mut watches = Vec::new();
        for role in Role::ALL {
            if let Some(name) = fields.assigned(role) {
                watches.push(FieldWatch::new(
                    fields,
                    &[role],
                    Some((role, name.to_owned())),
                ));
            }
        }
        if fields.assigned(Role::Text).is_none() && fields.assigned(Role::Html).is_none() {
            watches.push(FieldWatch::new(fields, &[Role::Text, Role::Html], None));
        }
        FieldProbe {
            watches,
            found: Vec::new(),
            named: 0,
            objects: 0,
            text_seen: false,
        }
    }

    /// Checks another line. Returns whether all fields have been seen.
    pub(crate) fn sees_all(&mut self, line: &[u8], input: &str) -> Result<bool, Error> {
        self.watches.retain(|watch| {
            let seen = watch.sees(line);
            self.text_seen |= seen && watch.is_text();
            !seen
        });
        if self.watches.is_empty() {
            return Ok(true);
        }
        if self.named < SHOWN
            && let Some(names) = names(line)
        {
            self.named += 1;
            for name in names {
                if !self.found.contains(&name) {
                    self.found.push(name);
                }
            }
        }
        self.objects += 1;
        // A date or a title may be rare. If the text is missing a thousand times, the name is
        // wrong.
        match self.watches.iter().find(|watch| watch.is_text()) {
            Some(watch) if !self.text_seen && self.named > 0 && self.objects >= PATIENCE => {
                Err(self.missing(watch, input))
            }
            _ => Ok(false),
        }
    }

    /// At the end of the input: fails if a field has not been seen.
    pub(crate) fn conclude(&self, input: &str) -> Result<(), Error> {
        match self.watches.first() {
            Some(watch) if self.named > 0 => Err(self.missing(watch, input)),
            _ => Ok(()),
        }
    }

    fn missing(&self, watch: &FieldWatch, input: &str) -> Error {
        let (name, found) = (input.to_owned(), self.found.clone());
        match &watch.named {
            Some((role, field)) => Error::NoSuchField {
                name,
                role: *role,
                field: field.clone(),
                found,
            },
            None => Error::NoTextField { name, found },
        }
    }
}
