//go:build !linux || race

package main

import "fmt"

// hasSQLite reports whether SQLite is part of the program. SQLite takes long to compile,
// and is measured on Linux alone.
const hasSQLite = false

func openSQLite(string, durability) (store, error) { return nil, fmt.Errorf("sqlite: %w", errNone) }
