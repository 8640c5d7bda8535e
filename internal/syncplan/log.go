package syncplan

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// LogAction is what is to be done with a log of this device. Logs cannot
// conflict: only this device writes them.
type LogAction int

const (
	LogIdle LogAction = iota
	LogPush           // store the new lines
	LogHold           // the cloud has these lines and more: the file was cut
	LogAnew           // the file is another one: begin the next generation of the stream with it
)

// PlanLog decides for a log. The zero remote point means that nothing is
// stored.
func PlanLog(local segment.Point, localHas Has, remote segment.Point, remoteHas Has) (LogAction, error) {
	if local == remote || local.N == 0 {
		return LogIdle, nil
	}
	if remote.N == 0 {
		return LogPush, nil
	}
	continues, err := on(localHas, local, remote)
	if err != nil {
		return 0, fmt.Errorf("plan sync of log: %w", err)
	}
	if continues {
		return LogPush, nil
	}
	contained, err := on(remoteHas, remote, local)
	switch {
	case err != nil:
		return 0, fmt.Errorf("plan sync of log: %w", err)
	case contained:
		return LogHold, nil
	}
	return LogAnew, nil
}
