package syncplan

import "github.com/amplifier-go/sessionstorage/hybrid/internal/segment"

// Has reports whether a point is on a history. It is called only for points that are not
// longer than the history and have at least one record.
type Has func(segment.Point) (bool, error)

// A Policy decides which side a session continues with when both went on differently.
// None of them loses a line.
type Policy int

const (
	KeepBoth Policy = iota // the cloud's; the additions of this device become a branch and a local fork
	Ours                   // this device's; the cloud's becomes a branch
	Theirs                 // the cloud's; the additions of this device become a branch
)

// Local is the side of this device.
type Local struct {
	Present   bool
	Removed   bool // it was here and is no more
	Asked     bool // the call named this session
	Live      bool // another program may hold old lines in memory: the file must not be changed
	Tip       segment.Point
	Has       Has
	Redaction string // version of the rules that its lines went through
}

// Remote is the side of the cloud.
type Remote struct {
	Present   bool
	Deleted   bool // a tombstone
	Tip       segment.Point
	Has       Has                      // may need requests, so it is asked last
	Replaced  Has                      // whether a point is on the history of a former head; nil for none
	Branches  func() ([]Branch, error) // may need requests; nil for none
	Redaction string
}

// A Branch is a branch that the head names.
type Branch struct {
	ID  string
	Tip segment.Point
	Has Has // may need requests
}

// Input is the input of a decision.
type Input struct {
	Policy Policy
	Local  Local
	Base   *segment.Point // the point that both had when they were last in step; nil when that is not known
	Remote Remote
}
