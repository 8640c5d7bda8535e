package hybrid

import "time"

// SyncResult is what a [Store.Sync] did.
type SyncResult struct {
	Sessions, Pushed, Segments, Requests int // sessions looked at and sent, segments stored, requests made
	Bytes                                int64
	RequestUnits                         float64
	Conflicts                            []Conflict
}

// PullResult is what a [Store.Pull] did.
type PullResult struct {
	Sessions, Pulled int // sessions looked at, and changed here
	Conflicts        []Conflict
}

// Conflict is a session that two devices added to, and the session that keeps
// this device's history, if it became one.
type Conflict struct{ SessionID, KeptAs string }

// Estimate is what a sync would send.
type Estimate struct {
	Documents    int
	Bytes        int64
	RequestUnits float64
}

// RemoteSession is a session as the catalogue of its user has it, which may be
// half a minute behind.
type RemoteSession struct {
	SessionID string    `json:"session_id"`
	Project   string    `json:"project"`
	Name      string    `json:"name"`
	Updated   time.Time `json:"updated"`
	Messages  int       `json:"n"`
	Turns     int       `json:"turns"`
	Revision  int64     `json:"rev"`
	Deleted   bool      `json:"deleted"`
	Conflict  bool      `json:"conflict"`
}
