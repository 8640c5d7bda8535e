package main

import (
	"bytes"
	"path/filepath"
	"sync"

	"github.com/tidwall/wal"
)

// journal is tidwall/wal with one entry a message.
type journal struct {
	log  *wal.Log
	mu   sync.Mutex // guards last: the writer numbers its entry
	last uint64
}

func openWAL(dir string, d durability) (store, error) {
	if d != synced && d != relaxed {
		return nil, errUsage
	}
	options := *wal.DefaultOptions
	options.NoSync = d == relaxed
	log, err := wal.Open(filepath.Join(dir, "wal"), &options)
	if err != nil {
		return nil, err
	}
	return &journal{log: log}, nil
}

func (st *journal) Close() error { return st.log.Close() }

func (st *journal) add(line []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.last++
	return st.log.Write(st.last, line)
}

func (st *journal) fill(lines [][]byte) error {
	var batch wal.Batch
	for _, line := range lines {
		st.last++
		batch.Write(st.last, line)
	}
	return st.log.WriteBatch(&batch)
}

func (st *journal) lines() ([][]byte, error) {
	lines := make([][]byte, 0, st.last)
	for i := uint64(1); i <= st.last; i++ {
		line, err := st.log.Read(i)
		if err != nil {
			return nil, err
		}
		lines = append(lines, bytes.Clone(line))
	}
	return lines, nil
}

func (st *journal) name([]string) error { return errNone }

func (st *journal) names() ([]string, error) { return nil, errNone }
