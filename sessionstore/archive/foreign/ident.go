package foreign

import (
	"crypto/sha1" //nolint:gosec // version 5 of UUIDs is defined by it
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// namespace is that of all ids that this package makes.
var namespace = [16]byte{0x5b, 0x1d, 0x0d, 0x5c, 0x4e, 0x0a, 0x5d, 0x0b, 0x9e, 0x51, 0x8f, 0x2c, 0x71, 0x1a, 0x6e, 0x33}

// uuid5 returns the UUID of version 5 of the tool and the tool's own id.
func uuid5(tool Tool, id string) string {
	h := sha1.New() //nolint:gosec // see above
	h.Write(namespace[:])
	h.Write([]byte(string(tool) + "\x00" + id))
	b := h.Sum(nil)[:16]
	b[6] = b[6]&0x0f | 0x50
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// SessionID returns the id of the session that [Import] makes of the conversation of
// a history. It is "" for the history of a sub-agent, which is no conversation of its
// own. It reads nothing, so there may be no conversation in the file, or an export of a session
// that is here, into which its turns come: that often has the id of the history.
func (h History) SessionID() string {
	if h.Parent != "" || h.spawned {
		return ""
	}
	return uuid5(h.Tool, h.ID)
}

var notInAgent = regexp.MustCompile(`[^a-z0-9]+`)

// subID returns the id of a sub-session in the form of sessionstore.NewSubID: a
// zero span, a span of the agent's id, and the agent's name.
func subID(tool Tool, id, agent string) string {
	span := strings.ReplaceAll(uuid5(tool, id), "-", "")[:16]
	name := strings.Trim(notInAgent.ReplaceAllString(strings.ToLower(agent), "-"), "-")
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-")
	}
	if name == "" {
		name = "agent"
	}
	return hex.EncodeToString(make([]byte, 8)) + "-" + span + "_" + name
}
