//! The languages: letters, syllables, function words and punctuation.
//!
//! Words are made of syllables in the script of the language, so they have no meaning and no
//! author. In the Latin and Cyrillic scripts the most frequent ones are real function words (*the*,
//! *und*, *не*), because language detection relies on these.

use std::fmt;
use std::str::FromStr;

/// A language in which text can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Russian, in Cyrillic.
    Russian,
    /// Greek.
    Greek,
    /// Arabic, written from right to left.
    Arabic,
    /// Hindi, in Devanagari.
    Hindi,
    /// Chinese, without spaces.
    Chinese,
    /// Japanese: kana and kanji, without spaces.
    Japanese,
    /// Thai, with spaces between sentences only.
    Thai,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 11] = [
        Language::English,
        Language::German,
        Language::Russian,
        Language::Chinese,
        Language::French,
        Language::Greek,
        Language::Thai,
        Language::Spanish,
        Language::Arabic,
        Language::Japanese,
        Language::Hindi,
    ];

    /// Its ISO 639-1 code.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
            Language::French => "fr",
            Language::Spanish => "es",
            Language::Russian => "ru",
            Language::Greek => "el",
            Language::Arabic => "ar",
            Language::Hindi => "hi",
            Language::Chinese => "zh",
            Language::Japanese => "ja",
            Language::Thai => "th",
        }
    }

    /// The separator of words.
    pub(crate) fn space(self) -> &'static str {
        match self {
            Language::Chinese | Language::Japanese | Language::Thai => "",
            _ => " ",
        }
    }

    /// The comma, after a word within a sentence.
    pub(crate) fn comma(self) -> &'static str {
        match self {
            Language::Chinese => "，",
            Language::Japanese => "、",
            Language::Arabic => "،",
            Language::Thai => " ",
            _ => ",",
        }
    }

    /// The full stop.
    pub(crate) fn stop(self) -> &'static str {
        match self {
            Language::Chinese | Language::Japanese => "。",
            Language::Hindi => "।",
            Language::Thai => "",
            _ => ".",
        }
    }

    /// The separator of sentences.
    pub(crate) fn gap(self) -> &'static str {
        match self {
            Language::Chinese | Language::Japanese => "",
            _ => " ",
        }
    }

    /// Whether sentences begin with a capital letter.
    pub(crate) fn has_capitals(self) -> bool {
        matches!(
            self,
            Language::English
                | Language::German
                | Language::French
                | Language::Spanish
                | Language::Russian
                | Language::Greek
        )
    }

    /// Real function words, most frequent first.
    pub(crate) fn function_words(self) -> &'static str {
        match self {
            Language::English => {
                "the of and to in is that for with are this be on as it by not from or an was at have which but they \
                 will can has its"
            }
            Language::German => {
                "der die und das ist nicht mit den von zu ein eine auf für dem des im auch wird sich oder es als wenn \
                 bei aus nur dass zum einer"
            }
            Language::French => {
                "de la le les et des est une un pour dans que qui pas sur avec ce du par il sont au ou plus cette aux \
                 en ne se son"
            }
            Language::Spanish => {
                "de la que el en los las un una por con para es se del no su al lo como más este pero si está son \
                 también sobre y o"
            }
            Language::Russian => {
                "и в не на что с как это по из для от все или так его но за же бы мы они при к у о если когда уже был"
            }
            Language::Greek => {
                "και το της να του η με που την από για είναι στο οι τα δεν τον σε θα ο μια αυτό τις στην των ως αλλά"
            }
            Language::Arabic => {
                "في من على إلى أن ما لا هذا التي مع عن كان هذه الذي أو بعد كل قد بين ذلك هو هي ثم لم حتى"
            }
            Language::Hindi => {
                "के में की है और से को का एक यह पर नहीं कि भी हैं ने तो ही या जो लिए कर था हो इस अपने साथ"
            }
            Language::Chinese => {
                "的 是 在 了 和 有 我 不 他 这 也 就 人 都 说 上 中 大 我们 一个 可以 没有 他们 自己 什么 因为 所以 \
                 但是 如果 时候 现在 知道 已经 问题 工作 中国 学生 国家 社会 发展"
            }
            Language::Japanese => {
                "の に は を が と で も から まで これ それ です ます した する ある いる この その 私 人 日本 時間 \
                 仕事 学校 先生 会社 問題 世界 今日 電車 言葉 新しい 大きい"
            }
            Language::Thai => {
                "ที่ และ ใน ของ เป็น มี การ ได้ ไม่ จะ ให้ ว่า กับ ไป มา คน นี้ ความ จาก แต่ หรือ ก็ โดย แล้ว บ้าน เมือง งาน เด็ก \
                 โรงเรียน ประเทศ"
            }
        }
    }

    /// The syllables that words are made of.
    pub(crate) fn syllables(self) -> Syllables {
        match self {
            Language::English => Syllables {
                onsets: "b c d f g h l m n p r s t v w br cl dr fl gr pl pr sh st th tr",
                vowels: "a e i o u a e i o ea ou ai",
                codas: "- - - n r s t l m nd ck st ng",
                least: 1,
                most: 4,
            },
            Language::German => Syllables {
                onsets: "b d f g h k l m n p r s t w z sch st br gr kl fr schl pf",
                vowels: "a e i o u ä ö ü ei au ie eu",
                codas: "- - n r s t l ch nd ng rt ß",
                least: 2,
                most: 5,
            },
            Language::French => Syllables {
                onsets: "b c d f g j l m n p r s t v ch br cr dr pl tr gn qu",
                vowels: "a e i o u é è ê ou ai eu oi",
                codas: "- - - - n r s t l",
                least: 2,
                most: 4,
            },
            Language::Spanish => Syllables {
                onsets: "b c d f g h j l m n p r s t v ll ñ br cr tr ch",
                vowels: "a e i o u á é í ó ú ie ue",
                codas: "- - - - n r s l",
                least: 2,
                most: 4,
            },
            Language::Russian => Syllables {
                onsets: "б в г д ж з к л м н п р с т ф х ц ч ш ст пр кр гр вл",
                vowels: "а е и о у ы я ю ё э",
                codas: "- - - н р с т л й м сть",
                least: 2,
                most: 4,
            },
            Language::Greek => Syllables {
                onsets: "β γ δ ζ θ κ λ μ ν ξ π ρ σ τ φ χ ψ στ πρ τρ κλ",
                vowels: "α ε η ι ο υ ω ά έ ή ί ό ύ ώ ου αι ει",
                codas: "- - - - ν ρ",
                least: 2,
                most: 4,
            },
            Language::Arabic => Syllables {
                onsets: "ب ت ث ج ح خ د ذ ر ز س ش ص ض ط ظ ع غ ف ق ك ل م ن ه",
                vowels: "- - - ا و ي",
                codas: "- - - ر ن م ب د ل",
                least: 2,
                most: 4,
            },
            Language::Hindi => Syllables {
                onsets: "क ख ग घ च छ ज झ ट ठ ड त थ द ध न प फ ब भ म य र ल व श स ह",
                vowels: "- - ा ि ी ु ू े ै ो ौ",
                codas: "- - - न र ल त म स",
                least: 2,
                most: 4,
            },
            Language::Chinese => Syllables {
                onsets: "天 地 山 水 火 木 金 土 日 月 年 风 雨 云 花 草 树 林 河 海 江 湖 路 桥 门 窗 房 屋 城 市 村 镇 国 家 \
                         民 族 男 女 老 少 父 母 兄 弟 友 师 学 校 书 笔 纸 字 词 句 文 章 诗 歌 画 图 音 乐 声 光 色 红 \
                         黄 蓝 绿 白 黑 高 低 长 短 远 近 快 慢 冷 热 新 旧 好 坏 真 假 美 丑 强 弱 轻 重 多 少 前 后 左 右 \
                         东 西 南 北 春 夏 秋 冬 早 晚 夜 晨 时 分 秒 钟 走 跑 飞 游 站 坐 看 听 读 写 想 思 爱 恨 喜 怒 \
                         买 卖 开 关 进 出 来 去 上 下 生 死 病 药 医 手 足 头 目 口 耳 心 身 力 气 车 船 机 电 灯 油 米 面 \
                         肉 鱼 鸟 马 牛 羊 犬 猫 虫 龙 王 臣 兵 将 战 和 平 安 法 理 政 府 党 会 议 员 工 商 农 业 钱 银 行",
                vowels: "-",
                codas: "-",
                least: 1,
                most: 2,
            },
            Language::Japanese => Syllables {
                onsets: "あ い う え お か き く け こ さ し す せ そ た ち つ て と な に ぬ ね の は ひ ふ へ ほ ま み む め も や ゆ \
                         よ ら り る れ ろ わ 山 川 田 村 木 林 森 空 海 雨 雪 風 火 水 土 金 石 花 草 犬 猫 鳥 魚 虫 手 足 目 口 \
                         耳 心 力 男 女 子 父 母 兄 姉 友 国 町 市 道 橋 門 家 室 店 本 紙 文 字 語 歌 絵 色 音 光 声 夜 朝 昼 春 \
                         夏 秋 冬 年 月 日 時 分 東 西 南 北 前 後 左 右",
                vowels: "-",
                codas: "-",
                least: 2,
                most: 3,
            },
            Language::Thai => Syllables {
                onsets: "ก ข ค ง จ ช ด ต ท น บ ป ผ พ ม ย ร ล ว ส ห อ",
                vowels: "า ี ู ะ ิ ุ",
                codas: "- - น ง ม ก บ ด",
                least: 1,
                most: 3,
            },
        }
    }
}

/// The parts of syllables, separated by spaces; `-` is an empty part. Frequent parts are listed
/// more than once.
pub(crate) struct Syllables {
    pub(crate) onsets: &'static str,
    pub(crate) vowels: &'static str,
    pub(crate) codas: &'static str,
    /// The minimum and maximum number of syllables of a word.
    pub(crate) least: u64,
    pub(crate) most: u64,
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.code())
    }
}

/// An unknown language code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a supported language: use en, de, fr, es, ru, el, ar, hi, zh, ja or th")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(code: &str) -> Result<Language, UnknownLanguage> {
        Language::ALL
            .into_iter()
            .find(|language| language.code() == code)
            .ok_or_else(|| UnknownLanguage(code.to_owned()))
    }
}
