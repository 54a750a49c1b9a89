//! Objects on other machines.

use std::sync::Arc;

use super::{IgnoredCause, Input, Location, Resolver, kind};
use crate::bytes::{FRONT, Handle, unpacked_name};
use crate::decode::sniff;
use crate::remote::{Address, Client, Facts, Failure, Listed, Object, Ranged, Wanted};
use crate::{Error, RemoteTrouble};

/// An object that is to be looked at.
pub(super) struct Waiting {
    address: Address,
    facts: Facts,
    /// The key below the prefix that was typed; nothing if the object itself was.
    relative: Option<String>,
}

impl Resolver<'_> {
    pub(super) fn client(&mut self) -> Result<Arc<Client>, Error> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let client =
            Client::new(&self.settings.remote).map_err(|source| Error::Network { source })?;
        Ok(self.client.insert(client).clone())
    }

    /// A URL that the user typed.
    pub(super) fn remote(&mut self, typed: &str) -> Result<(), Error> {
        let address = Address::parse(typed)?;
        match &address {
            Address::S3 { bucket, key } if key.is_empty() || key.ends_with('/') => {
                self.prefix(bucket, key, &address.name())
            }
            Address::S3 { bucket, key } if key.contains(['*', '?', '[']) => {
                self.keys(bucket, key, typed)
            }
            _ => {
                self.waiting.push(Waiting {
                    address,
                    facts: Facts::default(),
                    relative: None,
                });
                Ok(())
            }
        }
    }

    /// Everything below a prefix, as if it were a folder.
    fn prefix(&mut self, bucket: &str, prefix: &str, typed: &str) -> Result<(), Error> {
        let listed = self.client()?.list(bucket, prefix, false)?;
        let before = self.waiting.len();
        let keys: Vec<String> = listed
            .iter()
            .map(|object| object.address.path().to_owned())
            .collect();
        for (object, key) in listed.into_iter().zip(&keys) {
            // Consoles leave empty objects behind to show folders.
            let below = format!("{key}/");
            let at = keys.partition_point(|other| *other < below);
            let is_folder = key.len() < prefix.len()
                || keys.get(at).is_some_and(|other| other.starts_with(&below));
            if object.facts.length != Some(0) || !is_folder {
                self.come_across(object, prefix);
            }
        }
        if self.waiting.len() == before {
            self.ignore(IgnoredCause::EmptyFolder, typed);
        }
        Ok(())
    }

    /// The objects whose keys match a pattern. Only those are listed that begin like it.
    fn keys(&mut self, bucket: &str, pattern: &str, typed: &str) -> Result<(), Error> {
        let matcher = glob::Pattern::new(pattern).map_err(|error| Error::BadPattern {
            pattern: typed.into(),
            problem: error.msg.into(),
        })?;
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let literal = pattern.split(['*', '?', '[']).next().unwrap_or_default();
        let folder = literal.rfind('/').map_or("", |at| &literal[..=at]);
        let mut any = false;
        for object in self.client()?.list(bucket, literal, false)? {
            let key = object.address.path();
            if matcher.matches_with(key, options) || key == pattern {
                any = true;
                self.come_across(object, folder);
            }
        }
        if any {
            Ok(())
        } else {
            Err(Error::NoMatch {
                pattern: typed.into(),
            })
        }
    }

    fn come_across(&mut self, object: Listed, prefix: &str) {
        let key = object.address.path();
        let relative = key.strip_prefix(prefix).unwrap_or(key).to_owned();
        if !relative.split('/').any(|part| part.starts_with('.')) {
            self.waiting.push(Waiting {
                address: object.address,
                facts: object.facts,
                relative: Some(relative),
            });
        }
    }

    /// Looks at all objects that were named or come across, and adds those that are to be read.
    pub(super) fn look(&mut self) -> Result<(), Error> {
        while !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            let client = self.client()?;
            let mut asked = Vec::new();
            for object in &waiting {
                if let Some(front) = self.front(object) {
                    asked.push(Wanted {
                        address: object.address.clone(),
                        facts: object.facts.clone(),
                        front,
                    });
                }
            }
            let mut answers = client.look(asked).into_iter();
            for mut object in waiting {
                let mut bytes = Vec::new();
                if self.front(&object).is_some()
                    && let Some(answer) = answers.next()
                {
                    match answer {
                        Ok((facts, front)) => {
                            object.facts = facts;
                            bytes = front;
                        }
                        Err(failure) => {
                            self.not_there(&object, failure)?;
                            continue;
                        }
                    }
                }
                self.looked_at(&client, object, bytes)?;
            }
        }
        Ok(())
    }

    /// How many of its first bytes have to be seen in order to know what it is; nothing if all is
    /// known.
    fn front(&self, object: &Waiting) -> Option<u64> {
        let named = object.relative.is_none();
        let by_name = kind::by_name(object.address.path());
        if self.settings.format.is_some() || kind::is_told(by_name, named) {
            // Of one that was listed the length is known.
            return named.then_some(1);
        }
        let path = object.address.path().to_ascii_lowercase();
        let is_packed = unpacked_name(&path) != path;
        // Enough for nearly all; for what turns out to need more, more is fetched.
        Some(if is_packed {
            FRONT
        } else {
            sniff::LOOKED_AT + 1
        } as u64)
    }

    /// An object that cannot be had. If it was typed, that is an error, as it is for a file, unless
    /// it is a prefix without its slash.
    fn not_there(&mut self, object: &Waiting, failure: Failure) -> Result<(), Error> {
        let name = object.address.name();
        if object.relative.is_some() && failure.trouble != RemoteTrouble::Unreachable {
            self.ignore(IgnoredCause::Unreadable, &name);
            return Ok(());
        }
        if let (RemoteTrouble::Missing, Address::S3 { bucket, key }) =
            (failure.trouble, &object.address)
        {
            let prefix = format!("{key}/");
            // Who may not list cannot be told more than that the object is missing.
            let below = self.client()?.list(bucket, &prefix, true);
            if below.is_ok_and(|below| !below.is_empty()) {
                return self.prefix(bucket, &prefix, &name);
            }
        }
        Err(failure.into())
    }

    fn looked_at(
        &mut self,
        client: &Arc<Client>,
        waiting: Waiting,
        front: Vec<u8>,
    ) -> Result<(), Error> {
        let Waiting {
            address,
            facts,
            relative,
        } = waiting;
        let shown = address.name();
        let identity = match &address {
            Address::Http(url) => url.as_str().to_owned(),
            Address::S3 { .. } => shown.clone(),
        };
        let path = address.path().to_owned();
        let is_page = matches!(address, Address::Http(_));
        let object = Object::new(client.clone(), address, facts);
        let handle = Handle::remote(Ranged::new(object.clone(), front));
        let format = match self.format_by(kind::by_name(&path), &shown, &handle, relative.is_none())
        {
            Ok(Some(format)) => format,
            Ok(None) => return Ok(()),
            Err(error) => {
                return match Error::from_io(&shown, error) {
                    error if relative.is_none() || error.is_outage() => Err(error),
                    _ => {
                        self.ignore(IgnoredCause::Unreadable, &shown);
                        Ok(())
                    }
                };
            }
        };
        let input = Input {
            url: match relative {
                // A page on the web has its URL already.
                _ if is_page => shown.clone(),
                Some(relative) => self.url(&shown, &relative),
                None => self.url(&shown, &path),
            },
            bytes: object.facts().length,
            version: object.facts().version().map(str::to_owned),
            format: Some(format),
            location: Location::Remote(object),
            name: shown,
        };
        self.add(identity.into(), input);
        Ok(())
    }
}
