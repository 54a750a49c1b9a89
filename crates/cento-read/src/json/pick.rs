//! Parses only the needed fields of a JSON object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::{FieldMap, Role};

/// The fields to pick, as a tree of keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldPlan {
    root: Node,
    /// The role of each field. Fields for the same role are in order of preference.
    fields: Vec<Role>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<(String, Node)>,
    /// The fields (indexes into `FieldPlan::fields`) whose path ends here: several if one field has
    /// several roles.
    fields: Vec<usize>,
}

impl Node {
    fn add(&mut self, path: &[&str], field: usize) {
        let Some((key, rest)) = path.split_first() else {
            self.fields.push(field);
            return;
        };
        let at = match self.children.iter().position(|(known, _)| known == key) {
            Some(at) => at,
            None => {
                self.children.push(((*key).to_owned(), Node::default()));
                self.children.len() - 1
            }
        };
        self.children[at].1.add(rest, field);
    }

    fn child(&self, key: &str) -> Option<&Node> {
        self.children
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, node)| node)
    }
}

/// The values of the fields, by their index in the plan.
#[derive(Debug, Default)]
pub(crate) struct Picked<'a> {
    values: Vec<Option<FieldValue<'a>>>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FieldValue<'a> {
    Text(Cow<'a, str>),
    Number(String),
    /// Null, or a value that cannot be text: an object, a list.
    Other,
}

impl<'a> FieldValue<'a> {
    pub(crate) fn into_text(self) -> Cow<'a, str> {
        match self {
            FieldValue::Text(text) => text,
            FieldValue::Number(number) => Cow::Owned(number),
            FieldValue::Other => Cow::Borrowed(""),
        }
    }
}

impl FieldPlan {
    /// A plan for the fields that the user assigned, and for the usual names of other roles.
    pub(crate) fn new(fields: &FieldMap) -> Self {
        FieldPlan::for_roles(fields, &Role::ALL)
    }

    /// A plan for some roles only.
    pub(crate) fn for_roles(fields: &FieldMap, roles: &[Role]) -> Self {
        let mut plan = FieldPlan::default();
        for &role in roles {
            for name in fields.names(role) {
                let field = plan.fields.len();
                plan.fields.push(role);
                // A dot may be part of a name or separate nested names.
                plan.root.add(&[name], field);
                if name.contains('.') {
                    plan.root.add(&name.split('.').collect::<Vec<_>>(), field);
                }
            }
        }
        plan
    }

    /// Picks the planned fields out of one object.
    pub(crate) fn pick<'a>(&self, line: &'a [u8]) -> Result<Picked<'a>, serde_json::Error> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        self.pick_with(line, false).or_else(|error| {
            // Invalid surrogate pairs and bytes that are not UTF-8 are common in scraped text and
            // no reason to lose it. They are rare enough that a second attempt costs nothing.
            self.pick_with(line, true).map_err(|_| error)
        })
    }

    fn pick_with<'a>(
        &self,
        line: &'a [u8],
        lenient: bool,
    ) -> Result<Picked<'a>, serde_json::Error> {
        let mut picked = Picked {
            values: vec![None; self.fields.len()],
        };
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        let object = ObjectVisitor {
            node: &self.root,
            picked: &mut picked,
            lenient,
        };
        deserializer.deserialize_map(object)?;
        deserializer.end()?;
        Ok(picked)
    }

    /// Whether any field for `role` exists, even if it is empty.
    pub(crate) fn has(&self, picked: &Picked<'_>, role: Role) -> bool {
        self.positions(role).any(|at| picked.values[at].is_some())
    }

    /// The first field for `role` that is not empty.
    pub(crate) fn take<'a>(&self, picked: &mut Picked<'a>, role: Role) -> Option<FieldValue<'a>> {
        self.positions(role)
            .find_map(|at| picked.values[at].take_if(|value| *value != FieldValue::Other))
    }

    fn positions(&self, role: Role) -> impl Iterator<Item = usize> {
        self.fields
            .iter()
            .enumerate()
            .filter(move |(_, known)| **known == role)
            .map(|(at, _)| at)
    }
}

/// Parses an object and picks the fields in a node of the plan.
struct ObjectVisitor<'plan, 'picked, 'line> {
    node: &'plan Node,
    picked: &'picked mut Picked<'line>,
    lenient: bool,
}

impl<'line> Visitor<'line> for ObjectVisitor<'_, '_, 'line> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'line>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(child) = map.next_key_seed(KeySeed(self.node))? {
            match child {
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
                Some(node) => {
                    let value = map.next_value_seed(FieldSeed {
                        node,
                        picked: self.picked,
                        lenient: self.lenient,
                    })?;
                    if let Some((&last, others)) = node.fields.split_last() {
                        for &other in others {
                            self.picked.values[other] = Some(value.clone());
                        }
                        self.picked.values[last] = Some(value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Finds the node for a key without copying the key.
struct KeySeed<'plan>(&'plan Node);

impl<'line, 'plan> DeserializeSeed<'line> for KeySeed<'plan> {
    type Value = Option<&'plan Node>;

    fn deserialize<D: Deserializer<'line>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'plan> Visitor<'_> for KeySeed<'plan> {
    type Value = Option<&'plan Node>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.child(key))
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(str::from_utf8(key).ok().and_then(|key| self.0.child(key)))
    }
}

/// Parses the value of a planned field.
struct FieldSeed<'plan, 'picked, 'line> {
    node: &'plan Node,
    picked: &'picked mut Picked<'line>,
    lenient: bool,
}

impl<'line> DeserializeSeed<'line> for FieldSeed<'_, '_, 'line> {
    type Value = FieldValue<'line>;

    fn deserialize<D: Deserializer<'line>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.lenient && self.node.children.is_empty() {
            deserializer.deserialize_bytes(self)
        } else {
            deserializer.deserialize_any(self)
        }
    }
}

impl<'line> Visitor<'line> for FieldSeed<'_, '_, 'line> {
    type Value = FieldValue<'line>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(FieldValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'line str) -> Result<Self::Value, E> {
        Ok(FieldValue::Text(Cow::Borrowed(text)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(FieldValue::Text(Cow::Owned(
            String::from_utf8_lossy(bytes).into_owned(),
        )))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(FieldValue::Other)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(FieldValue::Other)
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(FieldValue::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(FieldValue::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(FieldValue::Number(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'line>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        Ok(FieldValue::Other)
    }

    fn visit_map<A: MapAccess<'line>>(self, map: A) -> Result<Self::Value, A::Error> {
        ObjectVisitor {
            node: self.node,
            picked: self.picked,
            lenient: self.lenient,
        }
        .visit_map(map)?;
        Ok(FieldValue::Other)
    }
}

/// The names of the fields of an object, nested ones with a dot. None if the line is not an object.
pub(crate) fn names(line: &[u8]) -> Option<Vec<String>> {
    let line = String::from_utf8_lossy(line);
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line.trim_start_matches('\u{feff}')).ok()?;
    let mut names = Vec::new();
    for (name, value) in object {
        match value {
            serde_json::Value::Object(inner) => {
                names.extend(inner.keys().map(|key| format!("{name}.{key}")));
            }
            _ => names.push(name),
        }
    }
    Some(names)
}
