package sessionstore

// Diagnostic tells what [Store.LoadStrict] met in a file. It never holds
// content. The codes are
//
//	invalid_file         the file holds something else than it should
//	unreadable_file      the file is there and cannot be read
//	recovered_backup     the backup was read in the place of Source
//	interrupted_append   another tool's append was cut off: only the backup counts
//	changed_during_read  the file changed while the session was read
//
// and Source is one of transcript, transcript_backup, metadata,
// metadata_backup and, for the mark of an append, transcript_append.
type Diagnostic struct {
	Code   string `json:"code"`
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"` // from 1; 0: none
}

const (
	invalidFile       = "invalid_file"
	unreadableFile    = "unreadable_file"
	recoveredBackup   = "recovered_backup"
	interruptedAppend = "interrupted_append"
	changedDuringRead = "changed_during_read"
)

// The sources that are halves of a session.
const (
	transcriptHalf = "transcript"
	metadataHalf   = "metadata"
	backupSuffix   = "_backup"
)

// StrictError tells that the transcript or the metadata of a session is there
// but that the newer Amplifier tools can use neither the file nor its backup.
// It Is [ErrCorrupt], and its text is the reference's.
type StrictError struct {
	Source      string // "transcript" or "metadata"
	Diagnostics []Diagnostic
	Err         error // a [*CorruptError] for each file that was looked at
}

func (e *StrictError) Error() string {
	return "Cannot read valid session " + e.Source + " or its backup"
}

// Is reports whether target is [ErrCorrupt].
func (e *StrictError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns what was wrong with the files.
func (e *StrictError) Unwrap() error { return e.Err }
