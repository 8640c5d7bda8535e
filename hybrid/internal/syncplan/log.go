package syncplan

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// LogAction is the action for a log of this device. Logs cannot conflict: only this
// device writes them.
type LogAction int

const (
	LogIdle   LogAction = iota
	LogPush             // store the new lines
	LogRewind           // store from the first differing line on, and keep the former extent as a history
	LogAnew             // the file is another one: begin the next generation of the stream with it
)

// PlanLog decides for a log. base is the point that both had when they were last in step;
// the zero point is unknown. A remote point without lines means that nothing is stored.
// Lines in the cloud that this device did not send are never replaced.
func PlanLog(local segment.Point, has Has, remote, base segment.Point) (LogAction, error) {
	if local == remote || local.N == 0 {
		return LogIdle, nil
	}
	continues, err := on(has, local, remote)
	switch {
	case err != nil:
		return 0, fmt.Errorf("plan sync of log: %w", err)
	case continues:
		return LogPush, nil
	case remote == base:
		return LogRewind, nil
	}
	return LogAnew, nil
}
