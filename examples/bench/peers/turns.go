package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// turnStore is a store that finds the messages of a turn.
type turnStore interface {
	fillTurns(rows func(add func(turn int, line []byte) error) error) error // all in one transaction
	turn(n int) ([][]byte, error)                                           // by a connection of its own
}

// turns puts the transcript in $BENCH_TRANSCRIPT into the store, and times how
// long one of its turns takes that has no long line.
func (r *result) turns(st store, times int) error {
	by, ok := st.(turnStore)
	if !ok {
		return errNone
	}
	var short []int // turns of less than 1 MiB
	err := by.fillTurns(func(add func(turn int, line []byte) error) error {
		n, size := 0, 0
		return eachLine(os.Getenv("BENCH_TRANSCRIPT"), func(line []byte) error {
			if bytes.HasPrefix(line, []byte(`{"role": "user"`)) {
				if n > 0 && size < 1<<20 {
					short = append(short, n)
				}
				n, size = n+1, 0
			}
			size += len(line)
			return add(n, line)
		})
	})
	if err != nil {
		return err
	}
	if len(short) == 0 {
		return errLost
	}
	random := rand.New(rand.NewPCG(1, 1))
	took := make([]time.Duration, 0, times)
	for range times {
		n := short[random.IntN(len(short))]
		start := time.Now()
		lines, err := by.turn(n)
		if err != nil {
			return err
		}
		if len(lines) < 5 {
			return errLost
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	r.Median, r.P99 = took[len(took)/2].Seconds(), took[(len(took)*99+99)/100-1].Seconds()
	return nil
}

// eachLine hands the lines of a file to do.
func eachLine(path string, do func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
