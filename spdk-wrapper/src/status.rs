//! How an I/O ended, and that in words. Owns the tables of the NVMe Base Specification 2.1 (section 4.2.3) and SPC-5;
//! knows no device.

use std::fmt;

/// The outcome of one I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Done, data valid.
    Good,
    /// The device answered with an NVMe status.
    Nvme {
        /// Status code type.
        sct: u8,
        /// Status code.
        sc: u8,
    },
    /// The device answered with a SCSI status.
    Scsi {
        /// Status byte; 0xf0 to 0xf2, which SCSI does not use, say that the iSCSI transport cancelled it, failed, or
        /// gave up waiting.
        status: u8,
        /// Sense key.
        key: u8,
        /// Additional sense code.
        asc: u8,
        /// Its qualifier.
        ascq: u8,
    },
    /// The queue to the target is gone; nothing was sent.
    TargetLost,
    /// A write to a target that was not opened for writing; nothing was sent.
    WriteRefused,
    /// An I/O of no blocks, or larger than its slot's buffer or a command; nothing was sent.
    BadLength,
    /// The driver would not take it, for a reason other than room; nothing was sent.
    NotTaken {
        /// Its reason, an errno.
        errno: i32,
    },
}

impl Status {
    /// From a completion's status field: phase bit, status code in bits 1-8, status code type in bits 9-11.
    #[inline(always)]
    #[must_use]
    pub fn from_nvme(field: u16) -> Self {
        let (sct, sc) = ((field >> 9 & 0x7) as u8, (field >> 1 & 0xff) as u8);
        if sct == 0 && sc == 0 { Self::Good } else { Self::Nvme { sct, sc } }
    }

    /// Whether the data was moved as asked.
    #[inline(always)]
    #[must_use]
    pub fn is_good(self) -> bool {
        matches!(self, Self::Good)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Good => f.write_str("Success"),
            Self::Nvme { sct, sc } => match nvme_words(sct, sc) {
                Some(words) => write!(f, "{} / {words}", nvme_group(sct)),
                None => write!(f, "{} / Reserved (code {sc:#04x} of type {sct:#x})", nvme_group(sct)),
            },
            Self::Scsi { status: 0x02, key, asc, ascq } => match scsi_words(asc, ascq) {
                Some(words) => write!(f, "SCSI Check Condition / {} / {words}", scsi_key(key)),
                None => {
                    write!(f, "SCSI Check Condition / {} (sense code {asc:#04x}, qualifier {ascq:#04x})", scsi_key(key))
                }
            },
            Self::Scsi { status: 0xf0, .. } => f.write_str("iSCSI Transport / Cancelled"),
            Self::Scsi { status: 0xf1, .. } => f.write_str("iSCSI Transport / Error"),
            Self::Scsi { status: 0xf2, .. } => f.write_str("iSCSI Transport / Timed Out"),
            Self::Scsi { status, .. } => write!(f, "SCSI {}", scsi_status(status)),
            Self::TargetLost => f.write_str("Target Lost / the queue to it is gone"),
            Self::BadLength => {
                f.write_str("Not Sent / the I/O has no blocks, or more than its buffer or a command holds")
            }
            Self::NotTaken { errno } => write!(f, "Not Sent / {}", std::io::Error::from_raw_os_error(errno)),
            Self::WriteRefused => f.write_str("Write Refused / the target was not opened for writing"),
        }
    }
}

fn nvme_group(sct: u8) -> &'static str {
    match sct {
        0 => "Generic Command Status",
        1 => "Command Specific Status",
        2 => "Media and Data Integrity Error",
        3 => "Path Related Status",
        7 => "Vendor Specific Status",
        _ => "Reserved Status Type",
    }
}

fn nvme_words(sct: u8, sc: u8) -> Option<&'static str> {
    Some(match (sct, sc) {
        (0, 0x00) => "Successful Completion",
        (0, 0x01) => "Invalid Command Opcode",
        (0, 0x02) => "Invalid Field in Command",
        (0, 0x03) => "Command ID Conflict",
        (0, 0x04) => "Data Transfer Error",
        (0, 0x05) => "Commands Aborted due to Power Loss Notification",
        (0, 0x06) => "Internal Error",
        (0, 0x07) => "Command Abort Requested",
        (0, 0x08) => "Command Aborted due to SQ Deletion",
        (0, 0x09) => "Command Aborted due to Failed Fused Command",
        (0, 0x0a) => "Command Aborted due to Missing Fused Command",
        (0, 0x0b) => "Invalid Namespace or Format",
        (0, 0x0c) => "Command Sequence Error",
        (0, 0x0d) => "Invalid SGL Segment Descriptor",
        (0, 0x0e) => "Invalid Number of SGL Descriptors",
        (0, 0x0f) => "Data SGL Length Invalid",
        (0, 0x10) => "Metadata SGL Length Invalid",
        (0, 0x11) => "SGL Descriptor Type Invalid",
        (0, 0x12) => "Invalid Use of Controller Memory Buffer",
        (0, 0x13) => "PRP Offset Invalid",
        (0, 0x14) => "Atomic Write Unit Exceeded",
        (0, 0x15) => "Operation Denied",
        (0, 0x16) => "SGL Offset Invalid",
        (0, 0x18) => "Host Identifier Inconsistent Format",
        (0, 0x19) => "Keep Alive Timer Expired",
        (0, 0x1a) => "Keep Alive Timeout Invalid",
        (0, 0x1b) => "Command Aborted due to Preempt and Abort",
        (0, 0x1c) => "Sanitize Failed",
        (0, 0x1d) => "Sanitize In Progress",
        (0, 0x1e) => "SGL Data Block Granularity Invalid",
        (0, 0x1f) => "Command Not Supported for Queue in CMB",
        (0, 0x20) => "Namespace is Write Protected",
        (0, 0x21) => "Command Interrupted",
        (0, 0x22) => "Transient Transport Error",
        (0, 0x23) => "Command Prohibited by Command and Feature Lockdown",
        (0, 0x24) => "Admin Command Media Not Ready",
        (0, 0x80) => "LBA Out of Range",
        (0, 0x81) => "Capacity Exceeded",
        (0, 0x82) => "Namespace Not Ready",
        (0, 0x83) => "Reservation Conflict",
        (0, 0x84) => "Format In Progress",
        (0, 0x85) => "Invalid Value Size",
        (0, 0x86) => "Invalid Key Size",
        (1, 0x80) => "Conflicting Attributes",
        (1, 0x81) => "Invalid Protection Information",
        (1, 0x82) => "Attempted Write to Read Only Range",
        (1, 0x83) => "Command Size Limit Exceeded",
        (1, 0xb8) => "Zoned Boundary Error",
        (1, 0xb9) => "Zone Is Full",
        (1, 0xba) => "Zone Is Read Only",
        (1, 0xbb) => "Zone Is Offline",
        (1, 0xbc) => "Zone Invalid Write",
        (2, 0x80) => "Write Fault",
        (2, 0x81) => "Unrecovered Read Error",
        (2, 0x82) => "End-to-end Guard Check Error",
        (2, 0x83) => "End-to-end Application Tag Check Error",
        (2, 0x84) => "End-to-end Reference Tag Check Error",
        (2, 0x85) => "Compare Failure",
        (2, 0x86) => "Access Denied",
        (2, 0x87) => "Deallocated or Unwritten Logical Block",
        (2, 0x88) => "End-to-end Storage Tag Check Error",
        (3, 0x00) => "Internal Path Error",
        (3, 0x01) => "Asymmetric Access Persistent Loss",
        (3, 0x02) => "Asymmetric Access Inaccessible",
        (3, 0x03) => "Asymmetric Access Transition",
        (3, 0x60) => "Controller Pathing Error",
        (3, 0x70) => "Host Pathing Error",
        (3, 0x71) => "Command Aborted By Host",
        _ => return None,
    })
}

fn scsi_status(status: u8) -> String {
    match status {
        0x00 => "Good".to_owned(),
        0x04 => "Condition Met".to_owned(),
        0x08 => "Busy".to_owned(),
        0x18 => "Reservation Conflict".to_owned(),
        0x28 => "Task Set Full".to_owned(),
        0x30 => "ACA Active".to_owned(),
        0x40 => "Task Aborted".to_owned(),
        other => format!("Reserved Status ({other:#04x})"),
    }
}

fn scsi_key(key: u8) -> &'static str {
    match key {
        0x0 => "No Sense",
        0x1 => "Recovered Error",
        0x2 => "Not Ready",
        0x3 => "Medium Error",
        0x4 => "Hardware Error",
        0x5 => "Illegal Request",
        0x6 => "Unit Attention",
        0x7 => "Data Protect",
        0x8 => "Blank Check",
        0x9 => "Vendor Specific",
        0xa => "Copy Aborted",
        0xb => "Aborted Command",
        0xd => "Volume Overflow",
        0xe => "Miscompare",
        0xf => "Completed",
        _ => "Reserved Sense Key",
    }
}

fn scsi_words(asc: u8, ascq: u8) -> Option<&'static str> {
    Some(match (asc, ascq) {
        (0x00, 0x00) => "No Additional Sense Information",
        (0x04, 0x00) => "Logical Unit Not Ready, Cause Not Reportable",
        (0x04, 0x01) => "Logical Unit Is in Process of Becoming Ready",
        (0x0c, 0x00) => "Write Error",
        (0x11, 0x00) => "Unrecovered Read Error",
        (0x20, 0x00) => "Invalid Command Operation Code",
        (0x21, 0x00) => "Logical Block Address Out of Range",
        (0x24, 0x00) => "Invalid Field in CDB",
        (0x25, 0x00) => "Logical Unit Not Supported",
        (0x26, 0x00) => "Invalid Field in Parameter List",
        (0x27, 0x00) => "Write Protected",
        (0x27, 0x07) => "Space Allocation Failed Write Protect",
        (0x29, _) => "Power On, Reset, or Bus Device Reset Occurred",
        (0x2a, 0x01) => "Mode Parameters Changed",
        (0x3f, 0x0e) => "Reported LUNs Data Has Changed",
        (0x44, 0x00) => "Internal Target Failure",
        (0x47, 0x05) => "Protocol Service CRC Error",
        (0x4b, _) => "Data Phase Error",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_in_words() {
        assert_eq!(
            Status::Nvme { sct: 2, sc: 0x81 }.to_string(),
            "Media and Data Integrity Error / Unrecovered Read Error"
        );
        assert_eq!(Status::Nvme { sct: 0, sc: 0x80 }.to_string(), "Generic Command Status / LBA Out of Range");
        let sense = Status::Scsi { status: 2, key: 3, asc: 0x11, ascq: 0 };
        assert_eq!(sense.to_string(), "SCSI Check Condition / Medium Error / Unrecovered Read Error");
        assert_eq!(Status::Scsi { status: 0x28, key: 0, asc: 0, ascq: 0 }.to_string(), "SCSI Task Set Full");
    }

    #[test]
    fn every_code_has_words_even_a_reserved_one() {
        for sct in 0..8 {
            for sc in 0..=255 {
                let words = Status::Nvme { sct, sc }.to_string();
                assert!(words.contains(" / ") && !words.starts_with(char::is_numeric), "{words}");
            }
        }
    }

    #[test]
    fn the_status_field_is_taken_apart_as_the_specification_says() {
        // Bit 0 is the phase tag and the top bits are retry hints; neither is part of the status.
        assert_eq!(Status::from_nvme(0x0001), Status::Good);
        assert_eq!(Status::from_nvme(0x8000), Status::Good);
        assert_eq!(Status::from_nvme((2 << 9) | (0x81 << 1) | 1), Status::Nvme { sct: 2, sc: 0x81 });
    }
}
