//go:build linux && !race

package peers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"
)

var (
	messagesBucket = []byte("messages")
	sessionsBucket = []byte("sessions") // by the time of the last change
)

// bolt is bbolt with one entry a message.
type bolt struct{ db *bbolt.DB }

func openBolt(dir string, d durability) (store, error) {
	options := *bbolt.DefaultOptions
	options.NoSync = d == relaxed
	db, err := bbolt.Open(filepath.Join(dir, "messages.bolt"), 0o600, &options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(messagesBucket)
		if err == nil {
			_, err = tx.CreateBucket(sessionsBucket)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return bolt{db}, nil
}

func (st bolt) Close() error { return st.db.Close() }

func (st bolt) add(line []byte) error { return st.fill([][]byte{line}) }

func (st bolt) event(line []byte) error { return st.add(line) }

func (st bolt) fill(lines [][]byte) error { return st.put(messagesBucket, lines) }

func (st bolt) name(ids []string) error {
	values := make([][]byte, len(ids))
	for i, id := range ids {
		values[i] = []byte(id)
	}
	return st.put(sessionsBucket, values)
}

// put appends values to a bucket in one transaction.
func (st bolt) put(bucket []byte, values [][]byte) error {
	return st.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		b.FillPercent = 1 // keys only grow
		for _, value := range values {
			seq, err := b.NextSequence()
			if err == nil {
				err = b.Put(binary.BigEndian.AppendUint64(nil, seq), value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (st bolt) lines() (lines [][]byte, err error) {
	err = st.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(messagesBucket).ForEach(func(_, line []byte) error {
			lines = append(lines, bytes.Clone(line))
			return nil
		})
	})
	return lines, err
}

func (st bolt) names() (ids []string, err error) {
	err = st.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(sessionsBucket).ForEach(func(_, id []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	slices.Reverse(ids)
	return ids, err
}
