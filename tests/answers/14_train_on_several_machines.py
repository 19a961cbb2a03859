"""Answers to the exercises of lesson 14: wrong ones with a word of the hint, right ones
of another form."""

CELLS = range(7)  # the others train, start workers or draw

HEAD = "def part_of_loss(losses, batch, count):\n    return "
SUM = 'dw = context.all_reduce("SUM", dw)'
CLIP = "dw, norm = tf.clip_by_global_norm(dw, 1.0)"
DIVIDE = "dw = [part / context.num_replicas_in_sync for part in dw]"
APPLY = "optimizer.apply(dw, model.trainable_variables)"


def clipped(*lines):
    body = [
        "context = tf.distribute.get_replica_context()",
        "loss, dw = part_of_gradient(x, t, model, rows_of_batch(x))",
        *lines,
        "return loss",
    ]
    head = "def clipped_step(x, t, model, optimizer):\n"
    return head + "".join(f"    {line}\n" for line in body)


WRONG = {
    1: [
        # right where the parts are equal: for 1 and 2 workers
        ("3 worker", HEAD + "losses.mean()\n"),
        ("2 worker", HEAD + "losses.sum() / batch\n"),
        ("2 worker", HEAD + "losses.sum() / batch / count\n"),
        ("1 worker", HEAD + "losses.sum() * count\n"),
        ("one number", HEAD + "losses\n"),
        # the lesson's constants
        ("30 rows", HEAD + "losses.sum() * count / 100\n"),
        ("one number", HEAD + "[losses.sum() * count / batch]\n"),
        ("1 worker", "def part_of_loss(values, batch, n):\n    pass\n"),
        # the middle of a batch, whatever its losses are
        ("1 worker", HEAD + "(batch - 1) / 2\n"),
        ("1 worker", HEAD + "str(losses.sum() * count / batch)\n"),
    ],
    2: [
        ("two workers", clipped(SUM, CLIP, APPLY)),
        ("two workers", clipped(CLIP, APPLY)),  # clips the parts
        ("two workers", clipped(SUM, DIVIDE, CLIP, APPLY)),
        ("two workers", clipped(SUM.replace("SUM", "MEAN"), CLIP, APPLY)),
        ("two workers", clipped(CLIP, SUM, DIVIDE, APPLY)),
        ("two workers", clipped(CLIP.replace("1.0", "0.5"), APPLY)
         .replace("0.5", "1 / context.num_replicas_in_sync")),
        ("two workers", clipped("loss = loss / context.num_replicas_in_sync",
                                SUM, CLIP, APPLY)),
        ("one worker", clipped(APPLY)),
        ("one worker", clipped(SUM, DIVIDE, APPLY)),
        ("one worker", clipped(SUM, CLIP, "dw = [part / 2 for part in dw]", APPLY)),
        ("one worker", clipped(SUM, CLIP, DIVIDE)),
    ],
}  # fmt: skip

RIGHT = {
    1: [
        HEAD + "tf.reduce_sum(losses) * count / batch\n",
        HEAD + "tf.reduce_mean(losses) * len(losses) * count / batch\n",
        HEAD + "losses.mean() * len(losses) / (batch / count)\n",
        HEAD + "sum(loss * count / batch for loss in losses)\n",
    ],
    2: [
        clipped(SUM.replace("SUM", "MEAN"),
                "bound = 1 / context.num_replicas_in_sync",
                CLIP.replace("1.0", "bound"), APPLY),
        clipped(SUM, CLIP, 'dw = context.all_reduce("MEAN", dw)', DIVIDE,
                "optimizer.apply_gradients(zip(dw, model.trainable_variables))"),
        clipped("total = context.all_reduce('SUM', dw)",
                "scale = tf.minimum(1.0, 1 / tf.linalg.global_norm(total))",
                "dw = [part * scale for part in dw]", APPLY),
        clipped(SUM, "dw = [tf.clip_by_norm(part, 1.0) for part in dw]",
                "first = context.replica_id_in_sync_group == 0",
                "dw = [part if first else 0 * part for part in dw]", APPLY),
    ],
}  # fmt: skip
