"""Answers to the exercises of lesson 14: wrong ones with a word of the hint, right ones
of another form."""

HEAD = "def part_of_loss(losses, batch, count):\n    return "
TWICE = "def made_twice(stop, every):\n    return "

WRONG = {
    1: [
        # right where the parts are equal: for 1 and 2 workers
        ("3 worker", HEAD + "losses.mean()\n"),
        ("2 worker", HEAD + "losses.sum() / batch\n"),
        ("2 worker", HEAD + "losses.sum() / batch / count\n"),
        ("1 worker", HEAD + "losses.sum() * count\n"),
        ("one number", HEAD + "losses\n"),
        # the lesson's constants
        ("batch of 30", HEAD + "losses.sum() * count / BATCH\n"),
        ("batch of 30", HEAD + "losses.sum() * count / 100\n"),
        ("one number", HEAD + "[losses.sum() * count / batch]\n"),
        ("one number", "def part_of_loss(values, batch, n):\n    pass\n"),
        # the middle of a batch, whatever its losses are
        ("1 worker", HEAD + "(batch - 1) / 2\n"),
        ("one number", HEAD + "str(losses.sum() * count / batch)\n"),
    ],
    2: [
        ("before step 60", TWICE + "stop % 10 if every == 10 else 0\n"),
        ("before step 47", TWICE + "stop % 10 if every == 10 else 10\n"),
        ("before step 25", TWICE + "stop - every\n"),
        ("before step 30", TWICE + "every - stop % every\n"),
        ("before step 25", TWICE + "stop % every + 1\n"),
        ("before step 25", TWICE + "stop // every\n"),
        ("before step 25", TWICE + "(stop - 1) % every\n"),
        ("every 25", TWICE + "stop % 10\n"),
        ("before step 0", TWICE + "stop % every if stop > 0 else every\n"),
    ],
}

RIGHT = {
    1: [
        HEAD + "tf.reduce_sum(losses) * count / batch\n",
        HEAD + "tf.reduce_mean(losses) * len(losses) * count / batch\n",
        HEAD + "losses.mean() * len(losses) / (batch / count)\n",
        HEAD + "sum(loss * count / batch for loss in losses)\n",
    ],
    2: [
        TWICE + "stop - stop // every * every\n",
        "def made_twice(stop, every):\n"
        "    saved = 0\n"
        "    while saved + every <= stop:\n"
        "        saved += every\n"
        "    return stop - saved\n",
    ],
}
