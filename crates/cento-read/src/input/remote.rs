//! Remote inputs.

use std::sync::Arc;

use super::{IgnoredCause, Input, Location, Resolver, guess};
use crate::bytes::{FRONT, Handle, unpacked_name};
use crate::decode::sniff;
use crate::remote::{
    Address, Client, Inspection, ListedObject, Object, ObjectFacts, RangeReader, TransferFailure,
};
use crate::{Error, RemoteErrorKind};

/// A remote object to inspect.
pub(super) struct PendingObject {
    address: Address,
    facts: ObjectFacts,
    /// The key relative to the prefix that the user named. None if the user named the object.
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

    /// Adds the objects for a URL that the user named.
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
                self.pending.push(PendingObject {
                    address,
                    facts: ObjectFacts::default(),
                    relative: None,
                });
                Ok(())
            }
        }
    }

    /// Adds everything below a prefix, like a folder.
    fn prefix(&mut self, bucket: &str, prefix: &str, typed: &str) -> Result<(), Error> {
        let listed = self.client()?.list(bucket, prefix, false)?;
        let before = self.pending.len();
        let keys: Vec<String> = listed
            .iter()
            .map(|object| object.address.path().to_owned())
            .collect();
        for (object, key) in listed.into_iter().zip(&keys) {
            // Web consoles create empty objects for folders.
            let below = format!("{key}/");
            let at = keys.partition_point(|other| *other < below);
            let is_folder = key.len() < prefix.len()
                || keys.get(at).is_some_and(|other| other.starts_with(&below));
            if object.facts.length != Some(0) || !is_folder {
                self.add_listed(object, prefix);
            }
        }
        if self.pending.len() == before {
            self.ignore(IgnoredCause::EmptyFolder, typed);
        }
        Ok(())
    }

    /// Adds the objects whose keys match a pattern. Lists only keys with the literal prefix of the
    /// pattern.
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
                self.add_listed(object, folder);
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

    fn add_listed(&mut self, object: ListedObject, prefix: &str) {
        let key = object.address.path();
        let relative = key.strip_prefix(prefix).unwrap_or(key).to_owned();
        if !relative.split('/').any(|part| part.starts_with('.')) {
            self.pending.push(PendingObject {
                address: object.address,
                facts: object.facts,
                relative: Some(relative),
            });
        }
    }

    /// Inspects all pending objects and adds those that can be read.
    pub(super) fn inspect(&mut self) -> Result<(), Error> {
        while !self.pending.is_empty() {
            let waiting = std::mem::take(&mut self.pending);
            let client = self.client()?;
            let mut inspections = Vec::new();
            for object in &waiting {
                if let Some(front) = self.front(object) {
                    inspections.push(Inspection {
                        address: object.address.clone(),
                        facts: object.facts.clone(),
                        front,
                    });
                }
            }
            let mut answers = client.inspect(inspections).into_iter();
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
                            self.add_missing(&object, failure)?;
                            continue;
                        }
                    }
                }
                self.add_inspected(&client, object, bytes)?;
            }
        }
        Ok(())
    }

    /// The number of first bytes needed to detect the format. None if everything is known.
    fn front(&self, object: &PendingObject) -> Option<u64> {
        let named = object.relative.is_none();
        let by_name = guess::by_name(object.address.path());
        if self.settings.format.is_some() || guess::is_conclusive(by_name, named) {
            // The length of a listed object is known.
            return named.then_some(1);
        }
        let path = object.address.path().to_ascii_lowercase();
        let is_packed = unpacked_name(&path) != path;
        // Enough for nearly all objects. More is fetched if needed.
        Some(if is_packed {
            FRONT
        } else {
            sniff::SNIFFED_BYTES + 1
        } as u64)
    }

    /// Handles an object that cannot be read. If the user named it, that is an error, as for a
    /// file, unless the name is a prefix without its slash.
    fn add_missing(
        &mut self,
        object: &PendingObject,
        failure: TransferFailure,
    ) -> Result<(), Error> {
        let name = object.address.name();
        if object.relative.is_some() && failure.kind != RemoteErrorKind::Unreachable {
            self.ignore(IgnoredCause::Unreadable, &name);
            return Ok(());
        }
        if let (RemoteErrorKind::Missing, Address::S3 { bucket, key }) =
            (failure.kind, &object.address)
        {
            let prefix = format!("{key}/");
            // Without permission to list, the error is only that the object is missing.
            let below = self.client()?.list(bucket, &prefix, true);
            if below.is_ok_and(|below| !below.is_empty()) {
                return self.prefix(bucket, &prefix, &name);
            }
        }
        Err(failure.into())
    }

    fn add_inspected(
        &mut self,
        client: &Arc<Client>,
        pending: PendingObject,
        front: Vec<u8>,
    ) -> Result<(), Error> {
        let PendingObject {
            address,
            facts,
            relative,
        } = pending;
        let shown = address.name();
        let identity = match &address {
            Address::Http(url) => url.as_str().to_owned(),
            Address::S3 { .. } => shown.clone(),
        };
        let path = address.path().to_owned();
        let is_page = matches!(address, Address::Http(_));
        let object = Object::new(client.clone(), address, facts);
        let handle = Handle::remote(RangeReader::new(object.clone(), front));
        let format =
            match self.format_by(guess::by_name(&path), &shown, &handle, relative.is_none()) {
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
                // A page on the web has a URL already.
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
