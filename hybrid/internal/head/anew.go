package head

import "github.com/amplifier-go/sessionstorage/hybrid/internal/segment"

// An Anew tells of a session that was sent anew in the place of a former one.
type Anew struct {
	// Rules is the version of the rules that all of its lines and files went through, or
	// later ones; "" where the former session was deleted.
	Rules string `json:"v,omitempty"`
	// Was is where the transcript of the former session ended, and Now the same place here.
	// They are zero where that is not known.
	Was segment.Point `json:"was,omitzero"`
	Now segment.Point `json:"now,omitzero"`
}
