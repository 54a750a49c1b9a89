//! Scripts, as far as they distinguish languages.

/// A script, or a group of scripts that one language uses together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    Other,
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Devanagari,
    Bengali,
    Gurmukhi,
    Gujarati,
    Odia,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Thai,
    Lao,
    Tibetan,
    Myanmar,
    Georgian,
    Ethiopic,
    Khmer,
    Hangul,
    Kana,
    Han,
}

const SCRIPTS: usize = Script::Han as usize + 1;

impl Script {
    /// The script of a letter, determined by its block: other characters in these blocks are rare.
    pub(super) fn of(letter: char) -> Script {
        match letter {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
            '\0'..='\u{36f}' => Script::Other,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Greek,
            '\u{400}'..='\u{52f}' => Script::Cyrillic,
            '\u{530}'..='\u{58f}' => Script::Armenian,
            '\u{590}'..='\u{5ff}' => Script::Hebrew,
            '\u{620}'..='\u{65f}'
            | '\u{670}'..='\u{6d3}'
            | '\u{6d5}'..='\u{6ef}'
            | '\u{6fa}'..='\u{77f}' => Script::Arabic,
            '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => Script::Arabic,
            '\u{900}'..='\u{97f}' => Script::Devanagari,
            '\u{980}'..='\u{9ff}' => Script::Bengali,
            '\u{a00}'..='\u{a7f}' => Script::Gurmukhi,
            '\u{a80}'..='\u{aff}' => Script::Gujarati,
            '\u{b00}'..='\u{b7f}' => Script::Odia,
            '\u{b80}'..='\u{bff}' => Script::Tamil,
            '\u{c00}'..='\u{c7f}' => Script::Telugu,
            '\u{c80}'..='\u{cff}' => Script::Kannada,
            '\u{d00}'..='\u{d7f}' => Script::Malayalam,
            '\u{d80}'..='\u{dff}' => Script::Sinhala,
            '\u{e00}'..='\u{e7f}' => Script::Thai,
            '\u{e80}'..='\u{eff}' => Script::Lao,
            '\u{f00}'..='\u{fff}' => Script::Tibetan,
            '\u{1000}'..='\u{109f}' => Script::Myanmar,
            '\u{10a0}'..='\u{10ff}' | '\u{1c90}'..='\u{1cbf}' => Script::Georgian,
            '\u{1200}'..='\u{139f}' => Script::Ethiopic,
            '\u{1780}'..='\u{17ff}' => Script::Khmer,
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7ff}' => {
                Script::Hangul
            }
            '\u{3041}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}' => Script::Kana,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Script::Han
            }
            '\u{20000}'..='\u{3ffff}' => Script::Han,
            _ => Script::Other,
        }
    }

    /// The language written in this script, if it is nearly always the same.
    pub(super) fn language(self) -> Option<&'static str> {
        Some(match self {
            Script::Greek => "el",
            Script::Armenian => "hy",
            Script::Bengali => "bn",
            Script::Gurmukhi => "pa",
            Script::Gujarati => "gu",
            Script::Odia => "or",
            Script::Tamil => "ta",
            Script::Telugu => "te",
            Script::Kannada => "kn",
            Script::Malayalam => "ml",
            Script::Sinhala => "si",
            Script::Thai => "th",
            Script::Lao => "lo",
            Script::Tibetan => "bo",
            Script::Myanmar => "my",
            Script::Georgian => "ka",
            Script::Ethiopic => "am",
            Script::Khmer => "km",
            Script::Hangul => "ko",
            Script::Kana => "ja",
            Script::Han => "zh",
            Script::Other
            | Script::Latin
            | Script::Cyrillic
            | Script::Hebrew
            | Script::Arabic
            | Script::Devanagari => return None,
        })
    }

    /// The weight of a letter: an East Asian syllable or word counts as several letters.
    fn weight(self) -> u32 {
        match self {
            Script::Other => 0,
            Script::Hangul | Script::Kana | Script::Han => 3,
            _ => 1,
        }
    }
}

/// The amount of text in each script.
#[derive(Debug, Default)]
pub(super) struct ScriptTally {
    weights: [u32; SCRIPTS],
}

impl ScriptTally {
    pub(super) fn add(&mut self, script: Script) {
        self.weights[script as usize] += script.weight();
    }

    /// Whether this is the only script.
    pub(super) fn is_all(&self, script: Script) -> bool {
        self.weights.iter().sum::<u32>() == self.weights[script as usize]
    }

    /// The script that determines the language.
    ///
    /// Latin letters occur everywhere, in names, commands and addresses: another script is the main
    /// one if it has at least a third of the text.
    pub(super) fn main_script(&self) -> Script {
        const OTHERS: [Script; SCRIPTS - 2] = [
            Script::Greek,
            Script::Cyrillic,
            Script::Armenian,
            Script::Hebrew,
            Script::Arabic,
            Script::Devanagari,
            Script::Bengali,
            Script::Gurmukhi,
            Script::Gujarati,
            Script::Odia,
            Script::Tamil,
            Script::Telugu,
            Script::Kannada,
            Script::Malayalam,
            Script::Sinhala,
            Script::Thai,
            Script::Lao,
            Script::Tibetan,
            Script::Myanmar,
            Script::Georgian,
            Script::Ethiopic,
            Script::Khmer,
            Script::Hangul,
            Script::Kana,
            Script::Han,
        ];
        let weight = |script: Script| self.weights[script as usize];
        let total: u32 = self.weights.iter().sum();
        let japanese = weight(Script::Kana) + weight(Script::Han);
        let mut best = (Script::Other, 0);
        for script in OTHERS {
            if weight(script) > best.1 {
                best = (script, weight(script));
            }
        }
        let (script, most) = match best.0 {
            // Chinese has no kana; about half of Japanese text is kana. The threshold of a tenth
            // allows for a Japanese name in Chinese.
            Script::Kana | Script::Han if weight(Script::Kana) * 10 >= japanese => {
                (Script::Kana, japanese)
            }
            _ => best,
        };
        if most * 3 >= total && most > 0 {
            script
        } else if weight(Script::Latin) > 0 {
            Script::Latin
        } else {
            Script::Other
        }
    }
}
