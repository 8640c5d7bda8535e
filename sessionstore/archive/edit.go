package archive

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// maxWhole is the size of the largest file that is read as a whole.
const maxWhole = 256 << 20

// edit changes the content of the files that do not stay as they are: the metadata get the
// session's id and name, and the files of an agent lose their approvals, which count only
// where they were given.
func (x *extraction) edit(f *file) error {
	name, isAgents := agentFile(f.path)
	if !isAgents && f.path != sessiondir.Metadata {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(f.content, maxWhole+1))
	switch {
	case err != nil:
		return err
	case len(content) > maxWhole:
		return fmt.Errorf("%s is larger than %d MiB", f.path, maxWhole>>20)
	case isAgents:
		content = x.withdraw(name, f.path, content)
	default:
		content, err = x.metadata(content)
	}
	f.content = bytes.NewReader(content)
	return err
}

// agentFile returns the file of an agent that path is, or that it is the backup of, also
// where the file system ignores case.
func agentFile(path string) (name string, ok bool) {
	for _, name := range []string{approvals.CallsFile, sessiondir.State} {
		if strings.EqualFold(path, name) || strings.EqualFold(path, sessiondir.Backup(name)) {
			return name, true
		}
	}
	return "", false
}

// withdraw returns the content of a file of an agent, or of its backup, without approvals.
// It counts them in the result, those of the backup only where the file itself has fewer
// commands, such as when it is damaged: no call is read from a backup.
func (x *extraction) withdraw(name, path string, content []byte) []byte {
	content, n := approvals.Withdraw(name, content)
	if strings.EqualFold(path, name) {
		x.result.AskedAgain = max(x.result.AskedAgain, n.Calls)
	}
	x.result.CommandsDropped = max(x.result.CommandsDropped, n.Commands)
	return content
}

// metadata returns metadata with the session's id and name. Damaged metadata,
// and those that have both already, come back as they are.
func (x *extraction) metadata(content []byte) ([]byte, error) {
	md, err := sessionstore.ParseMetadata(content)
	if err != nil {
		return content, nil
	}
	x.former = append(x.former, md.Text("session_id"))
	if x.result.Was == "" {
		x.result.Was = md.Text("session_id")
	}
	changed := false
	for _, m := range []struct{ name, value string }{{"session_id", x.result.ID}, {"name", x.opts.Name}} {
		if m.value == "" || md.Text(m.name) == m.value || m.name == "session_id" && x.result.ID == x.result.Was {
			continue
		}
		if err := md.Set(m.name, m.value); err != nil {
			return nil, err
		}
		changed = true
	}
	if changed {
		content = md.AppendTo(nil)
	}
	return content, nil
}
