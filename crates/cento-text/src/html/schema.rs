//! What a page declares about itself: schema.org types and the type in OpenGraph.

use std::fmt;

macro_rules! schema_kinds {
    ($($(#[$doc:meta])* $variant:ident $($name:literal)|+,)*) => {
        /// A group of schema.org types that say the same about the kind of a page.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SchemaKind {
            $($(#[$doc])* $variant,)*
        }

        impl SchemaKind {
            /// All groups, in order.
            pub const ALL: &[SchemaKind] = &[$(SchemaKind::$variant,)*];

            /// The group of a type by its name, without the address of the vocabulary.
            #[must_use]
            pub fn of(name: &str) -> Option<SchemaKind> {
                match name {
                    $($($name)|+ => Some(SchemaKind::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

schema_kinds! {
    /// An article.
    Article "Article" | "NewsArticle" | "BlogPosting" | "ReportageNewsArticle" | "OpinionNewsArticle"
        | "AnalysisNewsArticle" | "ScholarlyArticle" | "Report" | "LiveBlogPosting" | "Recipe"
        | "MedicalWebPage",
    /// A manual.
    Documentation "TechArticle" | "APIReference" | "HowTo" | "SoftwareSourceCode" | "DefinedTerm",
    /// A thing for sale.
    Product "Product" | "ProductGroup" | "IndividualProduct" | "ProductModel" | "Vehicle" | "Car"
        | "Book" | "SoftwareApplication" | "MobileApplication" | "VideoGame",
    /// A price.
    Offer "Offer" | "AggregateOffer",
    /// A review or rating.
    Review "Review" | "AggregateRating" | "Rating" | "UserReview",
    /// A discussion.
    Discussion "DiscussionForumPosting" | "SocialMediaPosting" | "Conversation",
    /// A comment: a post of a discussion, or a reader's comment on an article.
    Comment "Comment" | "UserComments",
    /// Questions and answers of users.
    Question "QAPage" | "Question" | "Answer",
    /// Frequently asked questions.
    Faq "FAQPage",
    /// A list of things.
    List "ItemList" | "CollectionPage" | "SearchResultsPage" | "OfferCatalog" | "Blog",
    /// An entry of a list.
    ListItem "ListItem",
    /// A service or a local business.
    Service "Service" | "LocalBusiness" | "ProfessionalService" | "FinancialService" | "MedicalBusiness"
        | "HomeAndConstructionBusiness" | "LegalService" | "Store" | "Restaurant" | "Hotel",
    /// A company that presents itself.
    Organization "Organization" | "Corporation" | "NewsMediaOrganization" | "EducationalOrganization",
    /// A profile, job or event.
    Other "ProfilePage" | "Person" | "JobPosting" | "Event" | "VideoObject" | "Course",
}

/// How often each [`SchemaKind`] is declared, up to 255.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SchemaCounts([u8; SchemaKind::ALL.len()]);

impl SchemaCounts {
    /// How often `kind` is declared.
    #[must_use]
    pub fn count(&self, kind: SchemaKind) -> u8 {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// Counts a declared type, such as `https://schema.org/Product`; others are ignored. Returns
    /// its group.
    pub(crate) fn add(&mut self, declared: &str) -> Option<SchemaKind> {
        let name = declared.rsplit(['/', '#', ':']).next().unwrap_or_default();
        let kind = SchemaKind::of(name)?;
        if let Some(count) = self.0.get_mut(kind as usize) {
            *count = count.saturating_add(1);
        }
        Some(kind)
    }
}

impl fmt::Debug for SchemaCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared = SchemaKind::ALL
            .iter()
            .map(|&kind| (kind, self.count(kind)))
            .filter(|&(_, count)| count > 0);
        formatter.debug_map().entries(declared).finish()
    }
}

/// What a page declares about its kind, apart from its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// The schema.org types in JSON-LD.
    pub schema: SchemaCounts,
    /// The value of `og:type` in lower case, such as `article` or `product`.
    pub open_graph_type: Option<String>,
    /// The value of `og:url`.
    pub open_graph_address: Option<String>,
    /// What the page says that it is about: the `description` of its metadata, and the
    /// descriptions and texts in JSON-LD, on a line each. At most [`LONGEST_DESCRIPTIONS`] bytes.
    pub descriptions: String,
}

/// The maximum length of [`Declarations::descriptions`]; what does not fit is left out.
pub const LONGEST_DESCRIPTIONS: usize = 256 << 10;

impl Declarations {
    pub(crate) fn describe(&mut self, text: &str) {
        if self.descriptions.len() + text.len() < LONGEST_DESCRIPTIONS {
            self.descriptions.push_str(text);
            self.descriptions.push('\n');
        }
    }
}

/// Decodes the escapes of a JSON string. Invalid escapes are kept as written, without the
/// backslash.
pub(crate) fn json_decode(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let mut characters = rest.get(at + 1..).unwrap_or_default().chars();
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => {}
            Some('b' | 'f') => out.push(' '),
            Some('u') => {
                let (character, after) = unicode_escape(characters.as_str());
                out.push(character);
                characters = after.chars();
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out
}

/// The character of an escape whose digits begin `rest`, and what follows it. Two surrogates make
/// one character.
fn unicode_escape(rest: &str) -> (char, &str) {
    let unit = |rest: &str| {
        let digits = rest.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let after = |length: usize| rest.get(length..).unwrap_or_default();
    let Some(first) = unit(rest) else {
        return ('u', rest);
    };
    if let Some(character) = char::from_u32(first) {
        return (character, after(4));
    }
    let second = after(4).strip_prefix("\\u").and_then(unit);
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, second) {
        let joined = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        if let Some(character) = char::from_u32(joined) {
            return (character, after(10));
        }
    }
    (char::REPLACEMENT_CHARACTER, after(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(json_decode(r#"a\"b\\c\/d\ne"#), "a\"b\\c/d\ne");
        assert_eq!(
            json_decode(r"\u00e9\ud83d\ude00\ud83dx\u12"),
            "é😀\u{FFFD}xu12"
        );
        assert_eq!(json_decode("\\"), "");
    }

    #[test]
    fn types_are_known_with_and_without_their_vocabulary() {
        let mut counts = SchemaCounts::default();
        for declared in [
            "https://schema.org/Product",
            "Product",
            "schema:Product",
            "Otter",
        ] {
            counts.add(declared);
        }
        assert_eq!(counts.count(SchemaKind::Product), 3);
        assert_eq!(format!("{counts:?}"), "{Product: 3}");
    }
}
