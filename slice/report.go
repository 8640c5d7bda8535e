package slice

import (
	"encoding/json"
)

// The statuses of [RepairReport], [RewindReport] and [UndoReport].
const (
	Repaired       = "repaired"
	NoRepairNeeded = "no-repair-needed"
	Rewound        = "rewound"
	NoRewindNeeded = "no-rewind-needed"
	Undone         = "undone"
	NoUndoNeeded   = "no-undo-needed"
)

// RepairReport tells what [RepairSession] did. As JSON it is the reference's.
type RepairReport struct {
	Status       string       `json:"status"`             // Repaired or NoRepairNeeded
	Original     Diagnosis    `json:"original_diagnosis"` // of the transcript before the repair
	Verification Diagnosis    `json:"verification"`       // of the transcript after the repair
	BackupPath   string       `json:"backup_path"`        // the copy of the transcript before the repair
	Counts       RepairCounts `json:"counts"`
}

// RepairCounts are the numbers of messages before and after a repair.
type RepairCounts struct {
	Original int `json:"original_entries"`
	Repaired int `json:"repaired_entries"`
}

// MarshalJSON returns the status alone when nothing was done.
func (r RepairReport) MarshalJSON() ([]byte, error) {
	type report RepairReport
	return marshalReport(r.Status == NoRepairNeeded, r.Status, report(r))
}

// RewindReport tells what a rewind of a stored session did. As JSON it is the
// reference's.
type RewindReport struct {
	Status       string `json:"status"` // Rewound or NoRewindNeeded
	Original     int    `json:"original_entries"`
	Rewound      int    `json:"rewound_entries"`
	BackupPath   string `json:"backup_path"`                  // the copy of the transcript before the rewind
	EventsBackup string `json:"events_backup_path,omitempty"` // the copy of the log before the rewind; empty: the log was not cut
}

// MarshalJSON returns the status alone when nothing was done.
func (r RewindReport) MarshalJSON() ([]byte, error) {
	type report RewindReport
	return marshalReport(r.Status == NoRewindNeeded, r.Status, report(r))
}

// UndoReport tells what [Undo] did.
type UndoReport struct {
	Status       string `json:"status"`           // Undone or NoUndoNeeded
	Messages     int    `json:"restored_entries"` // number of messages of the restored transcript
	BackupPath   string `json:"backup_path"`      // the copy of the transcript before the undo
	EventsBackup string `json:"events_backup_path,omitempty"`
}

// MarshalJSON returns the status alone when nothing was done.
func (r UndoReport) MarshalJSON() ([]byte, error) {
	type report UndoReport
	return marshalReport(r.Status == NoUndoNeeded, r.Status, report(r))
}

// marshalReport returns a report in the reference's form: all of it, or, if
// idle is true because nothing was done, its status alone.
func marshalReport(idle bool, status string, full any) ([]byte, error) {
	if !idle {
		return json.Marshal(full)
	}
	return json.Marshal(struct {
		Status string `json:"status"`
	}{status})
}
