//! ORION's options as data: exactly what was written, and what is in force where nothing was written.
//!
//! Owns the options, their words and their defaults. Does not read text and checks nothing.

/// Declares a word-valued option: its values and how each is written.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $value,)+ }

        impl $name {
            /// Every value, in the order it is documented.
            pub const ALL: &[Self] = &[$(Self::$value,)+];

            /// How it is written.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$value => $word,)+ }
            }
        }
    };
}

words! {
    /// Which of ORION's releases a command line is written for, and its files are read as.
    Dialect {
        /// 10.2: run, testname and num_disks are mandatory; no `dss`, `oltp`, `-storax`, `-hugenotneeded`. Files as 11.1.
        V10_2 = "10.2",
        /// 11.1: latencies of the files in milliseconds, no histograms.
        V11_1 = "11.1",
        /// 11.2 and later, 19c among them: latencies of the files in microseconds, with histograms.
        V11_2 = "11.2",
    }
}

impl Default for Dialect {
    /// The newest, since its defaults ask for least.
    fn default() -> Self {
        Self::V11_2
    }
}

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `-help`, whatever else was written.
    Help,
    /// A test.
    Run(Box<Options>),
}

words! {
    /// `-run`: what kind of test.
    RunLevel {
        /// Small alone at rising loads, then large alone.
        Simple = "simple",
        /// Every combination of small and large loads.
        Normal = "normal",
        /// What the other options say.
        Advanced = "advanced",
        /// Large alone, for the greatest bandwidth.
        Dss = "dss",
        /// Small alone, for the greatest rate.
        Oltp = "oltp",
    }
}

words! {
    /// `-type`: order of the large I/Os.
    LargeType {
        /// Random.
        Rand = "rand",
        /// Sequential streams.
        Seq = "seq",
    }
}

words! {
    /// `-simulate`: how the volumes make up one.
    Simulate {
        /// One behind the other.
        Concat = "concat",
        /// Striped.
        Raid0 = "raid0",
    }
}

words! {
    /// `-matrix`: which combinations of loads are tested.
    Matrix {
        /// First row and first column.
        Basic = "basic",
        /// All.
        Detailed = "detailed",
        /// One.
        Point = "point",
        /// One small load, all large ones.
        Col = "col",
        /// One large load, all small ones.
        Row = "row",
        /// All up to the given loads.
        Max = "max",
    }
}

words! {
    /// `-storax`: ORION's way to the storage. Rigel reads it and goes its own.
    Storax {
        /// Operating system files.
        Skgfr = "skgfr",
        /// Storage server.
        Oss = "oss",
        /// ASM library.
        Asmlib = "asmlib",
        /// Disk manager library.
        Odmlib = "odmlib",
    }
}

/// A command line as written; the methods give the value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The release it was read for.
    pub dialect: Dialect,
    /// `-run`.
    pub run: RunLevel,
    /// `-testname`, as written.
    pub testname: Option<String>,
    /// `-num_disks`, at least 1.
    pub num_disks: Option<u32>,
    /// `-size_small`, KiB.
    pub size_small: Option<u32>,
    /// `-size_large`, KiB.
    pub size_large: Option<u32>,
    /// `-type`.
    pub large_type: Option<LargeType>,
    /// `-num_streamIO`, I/Os of each stream, at least 1.
    pub num_stream_io: Option<u32>,
    /// `-simulate`.
    pub simulate: Option<Simulate>,
    /// `-stripe`, KiB.
    pub stripe: Option<u32>,
    /// `-write`, per cent.
    pub write: Option<u32>,
    /// `-cache_size`, MiB; 0 for no warm-up.
    pub cache_size: Option<u32>,
    /// `-duration`, seconds of each point.
    pub duration: Option<u32>,
    /// `-matrix`.
    pub matrix: Option<Matrix>,
    /// `-num_small`, outstanding small I/Os.
    pub num_small: Option<u32>,
    /// `-num_large`, outstanding large I/Os, or streams.
    pub num_large: Option<u32>,
    /// `-storax`.
    pub storax: Option<Storax>,
    /// `-hugenotneeded`.
    pub huge_not_needed: bool,
    /// `-verbose`.
    pub verbose: bool,
}

impl Options {
    /// The options of a run level with nothing else written.
    #[must_use]
    pub fn new(dialect: Dialect, run: RunLevel) -> Self {
        Self {
            dialect,
            run,
            testname: None,
            num_disks: None,
            size_small: None,
            size_large: None,
            large_type: None,
            num_stream_io: None,
            simulate: None,
            stripe: None,
            write: None,
            cache_size: None,
            duration: None,
            matrix: None,
            num_small: None,
            num_large: None,
            storax: None,
            huge_not_needed: false,
            verbose: false,
        }
    }

    /// Name of the test as written, `orion` if none was.
    #[must_use]
    pub fn testname(&self) -> &str {
        self.testname.as_deref().unwrap_or("orion")
    }

    /// Order of the large I/Os.
    #[must_use]
    pub fn large_type(&self) -> LargeType {
        self.large_type.unwrap_or(LargeType::Rand)
    }

    /// Which combinations an advanced test runs.
    #[must_use]
    pub fn matrix(&self) -> Matrix {
        self.matrix.unwrap_or(Matrix::Basic)
    }

    /// I/Os outstanding for one of the matrix's large loads.
    #[must_use]
    pub fn ios_of_large(&self, load: u32) -> u64 {
        let each = if self.large_type() == LargeType::Seq { self.num_stream_io.unwrap_or(4) } else { 1 };
        u64::from(load) * u64::from(each)
    }
}
