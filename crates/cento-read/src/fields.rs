//! Which fields of an object or a table hold what.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// What a field can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Plain text.
    Text,
    /// HTML source.
    Html,
    /// The page's URL.
    Url,
    /// When the page was published.
    Date,
    /// The page's title.
    Title,
    /// A name that stands in for a missing URL.
    Id,
    /// The page's language.
    Language,
    /// The address the page was fetched from.
    Ip,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 8] = [
        Role::Text,
        Role::Html,
        Role::Url,
        Role::Date,
        Role::Title,
        Role::Id,
        Role::Language,
        Role::Ip,
    ];

    /// The name that `--field` takes.
    pub fn name(self) -> &'static str {
        match self {
            Role::Text => "text",
            Role::Html => "html",
            Role::Url => "url",
            Role::Date => "date",
            Role::Title => "title",
            Role::Id => "id",
            Role::Language => "language",
            Role::Ip => "ip",
        }
    }

    /// The fields that are looked at, the first that is there first, when the user names none.
    pub fn usual(self) -> &'static [&'static str] {
        match self {
            Role::Text => &["text", "content", "body"],
            Role::Html => &["html", "raw_html"],
            Role::Url => &["url", "link", "source"],
            Role::Date => &["date", "published", "timestamp", "created"],
            Role::Title => &["title"],
            Role::Id => &["id"],
            Role::Language => &["language", "lang"],
            Role::Ip => &["ip"],
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One `--field ROLE=NAME`. A name may be a path to a nested field, `meta.url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldAssignment {
    /// What the field holds.
    pub role: Role,
    /// Its name.
    pub name: String,
}

impl FromStr for FieldAssignment {
    type Err = Error;

    fn from_str(typed: &str) -> Result<Self, Error> {
        let bad = |problem: String| Error::BadField {
            typed: typed.into(),
            problem,
        };
        let (role, name) = typed
            .split_once('=')
            .ok_or_else(|| bad("there is no `=` in it".into()))?;
        let role = Role::ALL
            .into_iter()
            .find(|known| known.name() == role.trim())
            .ok_or_else(|| {
                bad(format!(
                    "`{}` is nothing that a field can hold",
                    role.trim()
                ))
            })?;
        let name = name.trim();
        if name.is_empty() {
            return Err(bad("it names no field".into()));
        }
        Ok(FieldAssignment {
            role,
            name: name.into(),
        })
    }
}

/// Which fields of JSON objects and which columns of tables hold what: as the user says, else the
/// usual names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap {
    assignments: Vec<FieldAssignment>,
}

impl FieldMap {
    /// Adds what the user said. A role said again holds the later name.
    pub fn assign(&mut self, assignment: FieldAssignment) {
        self.assignments
            .retain(|earlier| earlier.role != assignment.role);
        self.assignments.push(assignment);
    }

    /// The name that the user gave for `role`.
    pub fn given(&self, role: Role) -> Option<&str> {
        self.assignments
            .iter()
            .find(|assignment| assignment.role == role)
            .map(|assignment| assignment.name.as_str())
    }
}

impl FieldMap {
    /// The fields to look at for `role`, the best first.
    pub(crate) fn names(&self, role: Role) -> impl Iterator<Item = &str> {
        let given = self.given(role);
        let other = match role {
            Role::Text => self.given(Role::Html),
            Role::Html => self.given(Role::Text),
            _ => None,
        };
        // Who names a field for HTML does not want the text beside it, and the other way round.
        let usual = match (given, other) {
            (None, None) => role.usual(),
            _ => &[],
        };
        given.into_iter().chain(usual.iter().copied())
    }
}

impl FromIterator<FieldAssignment> for FieldMap {
    fn from_iter<T: IntoIterator<Item = FieldAssignment>>(assignments: T) -> Self {
        let mut map = FieldMap::default();
        for assignment in assignments {
            map.assign(assignment);
        }
        map
    }
}
