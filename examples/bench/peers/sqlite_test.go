//go:build linux && !race

package peers

import (
	"database/sql"
	"errors"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver
)

// database is SQLite with a write-ahead log and one row a message.
type database struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openSQLite(dir string, d durability) (store, error) {
	level := map[durability]string{synced: "FULL", relaxed: "OFF"}[d]
	source := "file:" + filepath.ToSlash(filepath.Join(dir, "messages.db")) + "?_pragma=journal_mode(WAL)&_pragma=synchronous(" + level + ")"
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // there is one writer at a time, and it need not wait for a lock
	st := &database{db: db}
	_, err = db.Exec(`CREATE TABLE messages (seq INTEGER PRIMARY KEY, line BLOB NOT NULL);
		CREATE TABLE sessions (id TEXT PRIMARY KEY, modified INTEGER NOT NULL);
		CREATE INDEX recent ON sessions (modified, id)`)
	if err == nil {
		st.insert, err = db.Prepare(`INSERT INTO messages (line) VALUES (?)`)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return st, nil
}

func (st *database) Close() error { return errors.Join(st.insert.Close(), st.db.Close()) }

func (st *database) add(line []byte) error {
	_, err := st.insert.Exec(line)
	return err
}

func (st *database) event(line []byte) error { return st.add(line) }

func (st *database) fill(lines [][]byte) error {
	return st.within(func(tx *sql.Tx) error {
		insert := tx.Stmt(st.insert)
		for _, line := range lines {
			if _, err := insert.Exec(line); err != nil {
				return err
			}
		}
		return nil
	})
}

func (st *database) name(ids []string) error {
	return st.within(func(tx *sql.Tx) error {
		for i, id := range ids {
			if _, err := tx.Exec(`INSERT INTO sessions VALUES (?, ?)`, id, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// within runs do as one transaction.
func (st *database) within(do func(*sql.Tx) error) error {
	tx, err := st.db.Begin()
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (st *database) lines() ([][]byte, error) {
	return all[[]byte](st.db, `SELECT line FROM messages ORDER BY seq`)
}

func (st *database) names() ([]string, error) {
	return all[string](st.db, `SELECT id FROM sessions ORDER BY modified DESC`)
}

// all returns the only column of the rows that the query finds. Scan copies it.
func all[T any](db *sql.DB, query string, args ...any) (found []T, err error) {
	rows, err := db.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		found = append(found, value)
	}
	return found, rows.Err()
}
