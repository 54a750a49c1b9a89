//! Watches the first lines for the fields that the user named.

use memchr::memmem::Finder;

use super::pick::{Plan, names};
use crate::{Error, FieldMap, Role};

/// After so many objects without a text, there is none.
const PATIENCE: u32 = 1000;

/// As many objects are looked at for the names of their fields, to be shown if one is missed.
const SHOWN: usize = 10;

/// Fields not yet seen.
pub(crate) struct Probe {
    /// What has not been seen, and the plan that sees it.
    watches: Vec<Watch>,
    found: Vec<String>,
    named: usize,
    objects: u32,
    text_seen: bool,
}

struct Watch {
    /// A field that the user named; nothing for the text that was left to the usual names.
    named: Option<(Role, String)>,
    roles: Vec<Role>,
    plan: Plan,
    /// The keys as they stand in a line; nothing if they may stand there in several ways.
    keys: Option<Vec<Finder<'static>>>,
}

impl Watch {
    fn new(fields: &FieldMap, roles: &[Role], named: Option<(Role, String)>) -> Self {
        let keys = roles
            .iter()
            .flat_map(|&role| fields.names(role))
            .flat_map(|name| [name, name.rsplit('.').next().unwrap_or(name)])
            .map(|key| {
                // Whatever is not a plain letter or digit may be written as an escape.
                key.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte))
                    .then(|| Finder::new(&format!("\"{key}\"")).into_owned())
            })
            .collect();
        Watch {
            named,
            roles: roles.to_vec(),
            plan: Plan::for_roles(fields, roles),
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

impl Probe {
    pub(crate) fn new(fields: &FieldMap) -> Self {
        let mut watches = Vec::new();
        for role in Role::ALL {
            if let Some(name) = fields.given(role) {
                watches.push(Watch::new(fields, &[role], Some((role, name.to_owned()))));
            }
        }
        if fields.given(Role::Text).is_none() && fields.given(Role::Html).is_none() {
            watches.push(Watch::new(fields, &[Role::Text, Role::Html], None));
        }
        Probe {
            watches,
            found: Vec::new(),
            named: 0,
            objects: 0,
            text_seen: false,
        }
    }

    /// Looks at one more line. Answers whether all fields have now been seen.
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
        // A date or a title may be rare; a text that is missing a thousand times is a wrong name.
        match self.watches.iter().find(|watch| watch.is_text()) {
            Some(watch) if !self.text_seen && self.named > 0 && self.objects >= PATIENCE => {
                Err(self.missing(watch, input))
            }
            _ => Ok(false),
        }
    }

    /// At the end of the input: whatever has not been seen is not there.
    pub(crate) fn conclude(&self, input: &str) -> Result<(), Error> {
        match self.watches.first() {
            Some(watch) if self.named > 0 => Err(self.missing(watch, input)),
            _ => Ok(()),
        }
    }

    fn missing(&self, watch: &Watch, input: &str) -> Error {
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
