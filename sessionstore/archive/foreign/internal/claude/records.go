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
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// recordsOf returns the hashes of the records of a file by says, in order and without
// repeats, and the newest time in the file.
func recordsOf(ctx context.Context, path string) (says []uint64, newest time.Time, err error) {
	r, size, leave, err := thread.OpenPlain(ctx, path)
	if err != nil {
		return nil, newest, err
	}
	defer leave()
	return recordsIn(ctx, r, size)
}

// recordsIn is recordsOf of an open file.
func recordsIn(ctx context.Context, r io.ReaderAt, size int64) (says []uint64, newest time.Time, err error) {
	for l, err := range soundLines(ctx, io.NewSectionReader(r, 0, size)) {
		if err != nil {
			return nil, newest, err
		}
		if l.at.After(newest) {
			newest = l.at
		}
		if inChain(l.kind) && l.uuid != "" {
			says = append(says, l.says())
		}
	}
	slices.Sort(says)
	return slices.Compact(says), newest, nil
}

// nearIn returns a function that reports whether one of the files has the record with a
// uuid. It reads the files when it is asked first. A file that cannot be read has none.
func nearIn(paths []string) func(ctx context.Context, uuid uint64) bool {
	var mu sync.Mutex
	var uuids []uint64 // hashes, in order
	read := false
	return func(ctx context.Context, uuid uint64) bool {
		mu.Lock()
		defer mu.Unlock()
		if !read {
			uuids = nil
			for _, path := range paths {
				uuids = append(uuids, uuidsOf(ctx, path)...)
			}
			slices.Sort(uuids)
			read = ctx.Err() == nil
		}
		_, found := slices.BinarySearch(uuids, uuid)
		return found
	}
}

// uuidsOf returns the hashes of the uuids of the records of a file, none where it cannot be
// read.
func uuidsOf(ctx context.Context, path string) (uuids []uint64) {
	r, size, leave, err := thread.OpenPlain(ctx, path)
	if err != nil {
		return nil
	}
	defer leave()
	for l, err := range soundLines(ctx, io.NewSectionReader(r, 0, size)) {
		if err != nil {
			return nil
		}
		if inChain(l.kind) && l.uuid != "" {
			uuids = append(uuids, thread.Hash(l.uuid))
		}
	}
	return uuids
}

// soundLines yields the lines that are sound.
func soundLines(ctx context.Context, r io.Reader) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for in, err := range thread.LinesOf(ctx, r) {
			l, damaged := parse(in.Bytes)
			if (err != nil || damaged == nil) && (!yield(l, err) || err != nil) {
				return
			}
		}
	}
}

// says returns a hash of the uuid and of the content of a record.
func (l line) says() uint64 {
	return xxh3.HashSeed(l.attach, xxh3.HashSeed(l.content, thread.Hash(l.uuid)))
}

// agentPrefix begins the name of a file of a sub-agent.
const agentPrefix = "agent-"

// agentIn returns the id of the sub-agent whose file is at path, and its kind and its
// task as the file beside it says.
func agentIn(path string) (id, name, task string) {
	id = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), agentPrefix), thread.HistorySuffix)
	name, task = agentMetadata(path)
	return id, cmp.Or(name, "agent"), task
}

// maxAgentMetadata is the largest file that describes a sub-agent.
const maxAgentMetadata = 1 << 20

// agentMetadata returns the kind and the task of a sub-agent from the file beside path.
func agentMetadata(path string) (kind, task string) {
	f, _, err := thread.OpenRegular(strings.TrimSuffix(path, thread.HistorySuffix) + ".meta.json")
	if err != nil {
		return "", ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxAgentMetadata))
	raw = pyjson.TrimSpace(raw)
	if err != nil || pyjson.Check(raw, pyjson.Tolerant) != nil {
		return "", ""
	}
	m := thread.Members(raw, "agentType", "description")
	return thread.Text(m[0]), thread.Text(m[1])
}
