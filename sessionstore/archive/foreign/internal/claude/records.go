package claude

import (
	"cmp"
	"context"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// recordIndex knows the uuids of the records of some conversations of Claude Code, without
// the records of sub-agents: no conversation goes on from these. It reads the files when it
// is asked first.
type recordIndex struct {
	paths []string

	mu    sync.Mutex
	read  bool
	uuids []uint64 // hashes, in order
}

// has reports whether one of the files has the record with a uuid. A file that cannot be
// read has none.
func (x *recordIndex) has(ctx context.Context, uuid uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.read {
		x.uuids = nil
		for _, path := range x.paths {
			for l, err := range sound(thread.LinesIn(ctx, path)) {
				if err == nil && inChain[l.kind] && l.uuid != "" && !l.sidechain {
					x.uuids = append(x.uuids, thread.Hash(l.uuid))
				}
			}
		}
		slices.Sort(x.uuids)
		x.read = ctx.Err() == nil
	}
	_, found := slices.BinarySearch(x.uuids, uuid)
	return found
}

// sound yields the lines that are sound.
func sound(lines iter.Seq2[thread.Line, error]) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for in, err := range lines {
			l, damaged := parse(in.Bytes)
			if (err != nil || damaged == nil) && (!yield(l, err) || err != nil) {
				return
			}
		}
	}
}

// says returns a hash of the uuid and of the content of a record.
func (l line) says() uint64 {
	return thread.Hash(l.uuid) + 3*thread.Content(l.content) + 5*thread.Content(l.attach)
}

// agentPrefix begins the name of a file of a sub-agent.
const agentPrefix = "agent-"

// agentID returns the id of the sub-agent whose file is at path.
func agentID(path string) string {
	return thread.ID(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), agentPrefix), thread.HistorySuffix))
}

// maxAgentMetadata is the largest file that describes a sub-agent.
const maxAgentMetadata = 1 << 20

func (Tool) Beside(path string) string {
	return strings.TrimSuffix(path, thread.HistorySuffix) + ".meta.json"
}

// Agent has the kind and the task from the file beside path.
func (format) Agent(path string, _ *thread.Table) (id, name, task string) {
	f, fi, err := thread.OpenRegular(Tool{}.Beside(path))
	if err != nil {
		return agentID(path), "agent", ""
	}
	defer f.Close()
	raw, _ := io.ReadAll(io.NewSectionReader(f, 0, min(fi.Size(), maxAgentMetadata))) // what is cut is no object
	raw, _ = thread.Object(raw)
	m := thread.Members(raw, "agentType", "description")
	return agentID(path), cmp.Or(thread.Text(m[0]), "agent"), thread.Text(m[1])
}
