package core

import (
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Tx is a transaction: one call that writes a session, of which it is the only
// writer. It must not be used after the call.
type Tx interface {
	// Dir returns the session's directory.
	Dir() *sessiondir.Dir

	// Changed reports to the transaction that the content of the file name was changed,
	// and synced if [Store.Syncs] is true.
	Changed(name string)

	// Renamed reports to the transaction that name is new or belongs to another file.
	Renamed(name string)

	// Metadata returns the metadata on disk, recovered as by
	// [sessionstore.Store.Load].
	Metadata() (sessionstore.Metadata, error)

	// SetMetadata makes md the metadata, exactly. The former metadata become the backup.
	// The error Is [sessionstore.ErrConflict] when a writer that takes no lock came
	// between.
	SetMetadata(md sessionstore.Metadata) error

	// Transcript returns the transcript on disk. When it is damaged and no backup is
	// good, it returns the readable messages and an error that Is
	// [sessionstore.ErrCorrupt].
	Transcript() ([]sessionstore.Message, sessionstore.Revision, error)

	// Recovered returns the reason why Transcript read the backup, nil when it did not.
	Recovered() *sessionstore.Recovery

	// SetTranscript makes rows, all of them, the transcript. It replaces the transcript
	// that Transcript returned, which becomes the backup. The error Is
	// [sessionstore.ErrConflict] when a writer that takes no lock came between.
	SetTranscript(rows []sessionstore.Message) error

	// Messages returns the messages of the file name, which has the form of a transcript.
	// When the file is damaged, it returns the readable messages and an error that Is
	// [sessionstore.ErrCorrupt].
	Messages(name string) ([]sessionstore.Message, error)

	// Restore makes the bytes of the file name the transcript, as
	// SetTranscript does with rows.
	Restore(name string) error

	// Replace gives the file name new content. The error Is
	// [sessionstore.ErrConflict] when another writer came between.
	Replace(name string, r commit.Replacement) error
}
