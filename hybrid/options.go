package hybrid

import (
	"log/slog"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Options are the settings of a store. The zero value, and nil, are a store
// without a cloud.
type Options struct {
	Store     *sessionstore.Options
	Manifests []workflow.Manifest
	Container *azcosmos.ContainerClient // nil: local only
	Project   string                    // stable name of the project on all devices; required with a container
	User      string                    // owner of the sessions in the container
	Device    string                    // "": the machine's own id, and the directory
	Deny      []string                  // globs of session ids and names that never leave this machine; nil: those of the last store of the directory that had some
	Redact    Redactor                  // nil: exact bytes
	Limits    Limits                    // of Budget, when that is nil
	Budget    *Budget                   // shared by the stores of a process that use one account; nil: the store's own
	Disabled  bool                      // keep the remote, sync only on Sync and Pull
	Foreign   bool                      // watch for writes of other programs (see [sessionstore.Store.Watch]); without it they are found every Interval
	Interval  time.Duration             // between looks at the directory and the catalogue; 0: a minute
	Conflict  Policy
	Logger    *slog.Logger
	OnStatus  func(Status) // called when a session's state changes; must not block nor call the store
	Observer  Observer     // nil: nobody is told what the copying does
}

// Policy says what becomes of two histories when two devices added to one
// session. Nothing is lost with any: the other history stays as a branch, or
// among the old tips, see [Store.Branches].
type Policy int

// The policies.
const (
	KeepBoth Policy = iota // the other device's goes on as the session, this one's as a new session here
	Ours                   // this device's goes on as the session
	Theirs                 // the other device's goes on as the session
)

// Redactor changes lines before they leave; its version is part of the tip. The
// same version and line must give the same result, a result redacted again
// must not change, and no result may hold an LF.
type Redactor interface {
	Version() string
	Line(line []byte) []byte
}
