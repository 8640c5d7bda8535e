package cosmostest

import (
	"fmt"
	"slices"
)

// Consistency is the default level of an account, which decides what a read by a
// replica that lags may answer.
type Consistency int

// The levels. The account has one region: there, a read of BoundedStaleness sees what
// one of Strong does.
const (
	Session          Consistency = iota // what the session token demands, or older
	Strong                              // all writes
	BoundedStaleness                    // all writes
	ConsistentPrefix                    // what the replica has, whatever the token
	Eventual                            // what the replica has, whatever the token
)

// levels are the names of the levels, the strongest first.
var levels = []string{"Strong", "BoundedStaleness", "Session", "ConsistentPrefix", "Eventual"}

// byRank are the levels, the strongest first.
var byRank = []Consistency{Strong, BoundedStaleness, Session, ConsistentPrefix, Eventual}

// String returns the service's name of the level.
func (c Consistency) String() string { return levels[slices.Index(byRank, c)] }

// MarshalText returns the service's name of the level.
func (c Consistency) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText takes the service's name of a level.
func (c *Consistency) UnmarshalText(name []byte) error {
	i := rank(string(name))
	if i < 0 {
		return fmt.Errorf("level %q is none of %q", name, levels)
	}
	*c = byRank[i]
	return nil
}

// rank returns the index of a level in levels, below 0 for none of the service's.
func rank(name string) int { return slices.Index(levels, name) }
