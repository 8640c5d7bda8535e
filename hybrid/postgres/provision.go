package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

//go:embed schema.sql
var schema string

// Schema returns the statements that make the table in a schema, for people who may not
// make one: the file schema.sql with another name. "" is [DefaultSchema].
func Schema(name string) string {
	if name == "" || name == DefaultSchema {
		return schema
	}
	return strings.ReplaceAll(schema, DefaultSchema, pgx.Identifier{name}.Sanitize())
}

// Provision makes the table that [Connect] opens at an address, unless it is there. The
// role needs the right to make a schema. The error Is [remote.ErrBlocked] for a server
// that does not write its commits to the disk.
func Provision(ctx context.Context, address string) error {
	r, err := Connect(address)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	c, err := r.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("provision: %w", unsent(ctx, err))
	}
	defer c.Release()
	fsync := ""
	if err := c.QueryRow(ctx, `SHOW fsync`, pgx.QueryExecModeSimpleProtocol).Scan(&fsync); err != nil {
		return fmt.Errorf("provision: %w", reason(err, false))
	}
	if fsync == "off" {
		return fmt.Errorf("provision: %w: the server has fsync = off, and loses commits in a power cut", remote.ErrBlocked)
	}
	if _, err := c.Exec(ctx, Schema(r.schema), pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("provision: %w", reason(err, false))
	}
	return nil
}
