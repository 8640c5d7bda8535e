package sessionstore

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// ParseDate reads a date or a time that a person wrote, for [Query.After] and
// [Query.Before]. It takes what the reference's search takes, which is ISO 8601
// as Python's datetime.fromisoformat reads it: 2026-08-01, 2026-08-01T10:30,
// 2026-08-01 10:30:00+02:00, 20260801, 2026-W31-6. A date alone is its midnight.
// A time without an offset is in UTC, another keeps its offset; what is smaller
// than a microsecond is cut off. The error shows the text, the beginning of a long
// one, and what is wrong with it.
func ParseDate(text string) (time.Time, error) { return pytime.ParseFilter(text) }

// Created returns when the session was created: the member created, as
// [Projects.Find] reads it. A time without an offset is in UTC. It returns false
// where the member is missing, no string or not a time in ISO 8601.
func (md Metadata) Created() (time.Time, bool) { return pytime.ParseCreated(md.Text("created")) }
