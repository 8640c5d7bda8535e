package syncplan

// Kind is the kind of an action.
type Kind int

const (
	Idle    Kind = iota // nothing
	Create              // store the session and make its first tip
	Push                // store the new lines and move the tip on
	Pull                // make the local transcript the history of the tip
	Rewrite             // store from the first differing line on, move the tip, keep the former one as a history
	Diverge             // make the local history a branch, then pull
	Record              // make the local history a branch, and leave the file alone
	Behind              // wait: the file must not be changed now
	Blocked             // wait until a user acts
	Deleted             // report that the session was removed from the cloud; keep the files
)

// Why is the reason.
type Why int

const (
	InStep        Why = iota
	Nowhere           // neither here nor there
	New               // on one side only
	Vanished          // the tip known to this device is gone, with no tombstone
	DeletedThere      // removed from the cloud; this device added nothing
	AddedSince        // removed from the cloud; this device has lines that the tombstone does not cover
	RemovedHere       // removed from this device
	LocalAdded        // the local history continues the remote one
	LocalRewrote      // rewound, repaired or edited here, nothing new there
	RemoteChanged     // added to, or rewound, there; nothing new here
	LocalRewound      // rewound here and added to there
	RemoteRewound     // rewound there and added to here
	Diverged          // both went on differently
	LiveWriter        // another program may save messages from its memory
	OtherRules        // lines went through other redaction rules, so that differences mean nothing
)

// An Action is a decision.
type Action struct {
	Kind Kind
	Why  Why
	// Reason is why the file had to be changed when Kind is Behind or Record for the sake
	// of a live writer, or the change that Blocked prevents.
	Reason Why

	Fork       bool     // of Diverge: the branch becomes a local session too
	Stored     bool     // of Diverge and Record: a branch that is listed has these lines already
	KeepRemote bool     // of Rewrite: the former tip becomes a branch, not only an old tip; no branch has its lines
	Replaces   []string // of Diverge, Record and KeepRemote: ids of the branches that the new one continues, or is
}
