//! Roles of the fields of JSON objects and tables.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The role of a field: what it contains.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Plain text.
    Text,
    /// HTML source.
    Html,
    /// The URL of the page.
    Url,
    /// When the page was published.
    Date,
    /// The page's title.
    Title,
    /// An identifier, which is kept beside the URL. It is the URL if there is none.
    Id,
    /// The page's language.
    Language,
    /// The IP address that the page was fetched from.
    Ip,
}

impl Role {
    /// All roles.
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

    /// The name of the role for `--field`.
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

    /// The usual names of fields with this role, in order of preference.
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

/// One `--field ROLE=NAME`. The name may be the path of a nested field, such as `meta.url`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldAssignment {
    /// The role of the field.
    pub role: Role,
    /// The name of the field.
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
            .ok_or_else(|| bad("`=` is missing".into()))?;
        let role = Role::ALL
            .into_iter()
            .find(|known| known.name() == role.trim())
            .ok_or_else(|| bad(format!("unknown role `{}`", role.trim())))?;
        let name = name.trim();
        if name.is_empty() {
            return Err(bad("the name of the field is missing".into()));
        }
        Ok(FieldAssignment {
            role,
            name: name.into(),
        })
    }
}

/// The roles of JSON fields and table columns: as assigned by the user, otherwise by their usual
/// names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap {
    assignments: Vec<FieldAssignment>,
}

impl FieldMap {
    /// Adds an assignment. It replaces an earlier one for the same role.
    pub fn assign(&mut self, assignment: FieldAssignment) {
        self.assignments
            .retain(|earlier| earlier.role != assignment.role);
        self.assignments.push(assignment);
    }

    /// The name assigned to `role` by the user.
    pub fn assigned(&self, role: Role) -> Option<&str> {
        self.assignments
            .iter()
            .find(|assignment| assignment.role == role)
            .map(|assignment| assignment.name.as_str())
    }
}

impl FieldMap {
    /// The possible names of the field for `role`, in order of preference.
    pub(crate) fn names(&self, role: Role) -> impl Iterator<Item = &str> {
        let assigned = self.assigned(role);
        let other = match role {
            Role::Text => self.assigned(Role::Html),
            Role::Html => self.assigned(Role::Text),
            _ => None,
        };
        // A user who assigns a field for HTML does not want another one with text, and vice versa.
        let usual = match (assigned, other) {
            (None, None) => role.usual(),
            _ => &[],
        };
        assigned.into_iter().chain(usual.iter().copied())
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
