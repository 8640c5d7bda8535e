package archive

import "github.com/amplifier-go/sessionstorage/slice/conversation"

// Format is the format of an archive.
type Format string

// The formats.
const (
	Tar      Format = "tar"   // all files of sessions
	JSONL    Format = "jsonl" // the lines of the transcript of one session
	Markdown Format = "md"    // one session for people, as CommonMark; [WriteFile] puts its images into a folder beside it
	HTML     Format = "html"  // one session for people, as a page that holds its images and loads nothing
)

// Redactor replaces the secrets in a line. The line that it returns holds no line break, is
// JSON where the line is, and is the same each time for the same line. A redact.Redactor of
// package hybrid/redact is one.
type Redactor interface{ Line(line []byte) []byte }

// WriteOptions control [Write]. A nil *WriteOptions is the zero value.
type WriteOptions struct {
	// Format is Tar where it is "".
	Format Format

	// Redact is applied to every line of every file, to metadata too. Nil
	// leaves everything as it is. With a Redactor, a tar archive leaves out
	// backups and other former states of files. Names of files and ids of
	// sessions stay as they are.
	Redact Redactor

	// These leave parts of a conversation out of Markdown and HTML.
	NoTools     bool // the calls of tools and their results
	NoThinking  bool // the model's thoughts
	NoReminders bool // messages that no person wrote in the user's name
	NoWorkflow  bool // the phases of a workflow, and the messages about it

	writeImage imageWriter // of Markdown; nil writes the label of an image
}

// imageWriter writes an image beside a document, and returns the address by which the document
// shows it.
type imageWriter func(conversation.File) (address string, err error)

// Limits of [ReadOptions] where these are 0.
const (
	defaultMaxEntries = 1_000_000
	defaultMaxBytes   = 64 << 30
	defaultMaxRatio   = 100
)

// ReadOptions control [Read] and [ReadDir]. A nil *ReadOptions is the zero value.
type ReadOptions struct {
	// ID is the id of the new session. "" keeps the id that the session had, unless
	// that may not come from outside, as the package comment says; then, and for
	// JSONL, the session gets a fresh one. With another id the metadata change, and
	// the events do not.
	ID string

	// Name is the name of the new session. "" keeps the name that it had.
	Name string

	// MaxSessions is the largest number of sessions in the archive. 0 means no
	// limit, or 1 with ID or Name.
	MaxSessions int

	// MaxEntries is the largest number of entries of a tar archive. MaxBytes is the largest
	// number of bytes in all files together, unpacked. 0 means 1,000,000 entries and 64 GiB;
	// a negative number means no limit. Where MaxBytes is 0, what gzip compressed may besides
	// unpack to 64 MiB, or to 100 times its size if that is more.
	MaxEntries int
	MaxBytes   int64
}

// bounds are the limits of ReadOptions with the defaults filled in. A negative
// one is none.
type bounds struct {
	sessions, entries int
	bytes             int64
	ratio             int64 // of unpacked bytes to those that gzip made of them
}

func (o *ReadOptions) bounds() bounds {
	b := bounds{o.MaxSessions, o.MaxEntries, o.MaxBytes, -1}
	if b.sessions == 0 {
		b.sessions = -1
		if o.ID != "" || o.Name != "" {
			b.sessions = 1
		}
	}
	if b.entries == 0 {
		b.entries = defaultMaxEntries
	}
	if b.bytes == 0 {
		b.bytes, b.ratio = defaultMaxBytes, defaultMaxRatio
	}
	return b
}
