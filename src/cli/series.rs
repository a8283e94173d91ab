//! `series.jsonl`, written while the run is on. Owns the file and the two threads behind it: one writes each line as it
//! comes, in one call, so that whatever kills the run can tear but the last; the other sees to it that what is written
//! reaches the disk within a second or so. The collector, which tells what to write, waits for neither.
//!
//! After the first error nothing more is written: what stands there stays a series that can be read, with no gap in it.

use std::fs::{File, OpenOptions, read, remove_file};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::exit::Failure;
use super::save::{SERIES, put};
use crate::clock::Clock;
use crate::engine::Event;
use crate::plan::Plan;
use crate::result::Provenance;
use crate::result::series::{Header, Interval, PointEnd, Record, line};

/// Lines that may wait for a disk that stands still. Only when it does so for longer is the collector held up, and then
/// intervals become longer; none is lost.
const WAITING: usize = 4_096;

/// How often what is written is forced to the disk: the most that a power failure may cost, and its own time.
const SYNC: Duration = Duration::from_secs(1);

/// The series of a run in the making.
#[derive(Debug)]
pub(super) struct SeriesFile {
    path: PathBuf,
    disk: Arc<Disk>,
    lines: SyncSender<Record>,
    writer: JoinHandle<()>,
    stop: Sender<()>,
    syncer: JoinHandle<()>,
    empty: bool,
}

/// The file as both threads see it.
#[derive(Debug)]
struct Disk {
    file: File,
    dirty: AtomicBool,
    failed: OnceLock<io::Error>,
}

impl SeriesFile {
    /// Makes the file and writes its header; fails where not even that can be written.
    pub(super) fn create(folder: &Path, provenance: &Provenance) -> Result<Self, Failure> {
        let path = folder.join(SERIES);
        Self::start(path.clone(), provenance).map_err(|error| {
            let _ = remove_file(&path);
            Failure::write(&path, error)
        })
    }

    /// Goes on with the file of a run that was cut off behind its first `points` points; what it holds of later ones goes.
    pub(super) fn go_on(folder: &Path, provenance: &Provenance, points: usize) -> Result<Self, Failure> {
        let path = folder.join(SERIES);
        let bytes = match read(&path) {
            // Cut off after its targets were filled and before its first point.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| Failure::write(&path, error))?,
        };
        let kept = before(&bytes, points).filter(|kept| !kept.is_empty());
        let kept = kept.unwrap_or_else(|| line(&Header::from(provenance)));
        let write = || put(folder, SERIES, &kept).and_then(|()| Self::append(path.clone(), kept.len()));
        write().map_err(|error| Failure::write(&path, error))
    }

    fn start(path: PathBuf, provenance: &Provenance) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
        let header = line(&Header::from(provenance));
        file.write_all(&header)?;
        Self::append(path, header.len())
    }

    /// Writes behind the `length` bytes of whole lines that the file holds.
    fn append(path: PathBuf, length: usize) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).open(&path)?;
        file.sync_data()?;
        let disk = Arc::new(Disk { file, dirty: AtomicBool::new(false), failed: OnceLock::new() });
        let (lines, waiting) = sync_channel(WAITING);
        let (stop, stopped) = channel();
        let thread = |name: &str| Builder::new().name(name.to_owned());
        let writer = {
            let (disk, length) = (Arc::clone(&disk), length as u64);
            thread("rigel-series").spawn(move || disk.write(&waiting, length))?
        };
        let syncer = {
            let disk = Arc::clone(&disk);
            thread("rigel-sync").spawn(move || disk.keep_synced(&stopped))?
        };
        Ok(Self { path, disk, lines, writer, stop, syncer, empty: true })
    }

    /// Writes what an event of a plan adds to the series, whose points come behind `offset` others.
    pub(super) fn take(&mut self, (plan, offset): (&Plan, usize), clock: &Clock, event: &Event<'_>) {
        let record = match event {
            Event::PointStarted(_) => return,
            Event::Interval(point, figures) => Record::Interval(Interval::of(plan, clock, offset + *point, figures)),
            Event::PointDone(figures) => {
                let end = PointEnd::from(*figures);
                Record::Point(PointEnd { point: offset + end.point, ..end })
            }
        };
        self.empty = false;
        // Fails only when the writer has panicked; `finish` tells.
        let _ = self.lines.send(record);
    }

    /// Why the series ends before the run, if it does.
    pub(super) fn trouble(&self) -> Option<String> {
        self.disk.trouble(&self.path)
    }

    /// Waits until every line is on the disk; says why, if not all could be written.
    pub(super) fn finish(self) -> Option<String> {
        let Self { path, disk, lines, writer, stop, syncer, empty: _ } = self;
        drop(lines);
        let written = writer.join();
        drop(stop);
        let synced = syncer.join();
        if written.is_err() || synced.is_err() {
            disk.fail(io::Error::other("a thread that writes it has panicked; the message is above"));
        }
        disk.sync();
        disk.trouble(&path)
    }

    /// The same after a run that failed: a series without a line but its header is removed.
    pub(super) fn abandon(self) {
        let (path, empty) = (self.path.clone(), self.empty);
        let _ = self.finish();
        if empty {
            let _ = remove_file(path);
        }
    }
}

/// The header of a series and its whole lines on the first `points` points; none where it has no whole header.
fn before(bytes: &[u8], points: usize) -> Option<Vec<u8>> {
    #[derive(serde::Deserialize)]
    struct Of {
        point: usize,
    }
    let whole = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
    let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
    let header = lines.next()?;
    let mine = lines.filter(|line| serde_json::from_slice::<Of>(line).is_ok_and(|of| of.point < points));
    Some(std::iter::once(header).chain(mine).flatten().copied().collect())
}

impl Disk {
    /// Writes lines until no more can come. `length` is that of the whole lines in the file.
    fn write(&self, lines: &Receiver<Record>, mut length: u64) {
        for record in lines {
            if self.failed.get().is_some() {
                continue;
            }
            let line = line(&record);
            match (&self.file).write_all(&line) {
                Ok(()) => {
                    length += line.len() as u64;
                    self.dirty.store(true, Ordering::Release);
                }
                Err(error) => {
                    // A part of the line may have found room.
                    let _ = self.file.set_len(length);
                    self.fail(error);
                }
            }
        }
    }

    fn keep_synced(&self, stop: &Receiver<()>) {
        while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(SYNC) {
            self.sync();
        }
    }

    fn sync(&self) {
        if self.dirty.swap(false, Ordering::Acquire) {
            if let Err(error) = self.file.sync_data() {
                self.fail(error);
            }
        }
    }

    fn fail(&self, error: io::Error) {
        // The first one counts.
        let _ = self.failed.set(error);
    }

    fn trouble(&self, path: &Path) -> Option<String> {
        let reason = self.failed.get()?;
        Some(format!(
            "cannot write the series to {}: {reason}; it ends with its last whole line. Make room there, or choose \
             another folder with --out next time",
            path.display()
        ))
    }
}
